/** The contract of `/mcp` over HTTP: messages of JSON-RPC, and what the resource says of itself. */
import { z } from "zod";
import { field } from "../field.ts";

const MESSAGE_EXAMPLE = { jsonrpc: "2.0", id: 1, method: "tools/list" };

/** Checked by the protocol's own rules, whose errors are JSON-RPC's. */
export const McpMessage = z.unknown().meta({
  id: "McpMessage",
  description: "A JSON-RPC 2.0 request, notification or response of the Model Context Protocol",
  example: MESSAGE_EXAMPLE,
});

export const McpEvents = field.text(
  "Events whose `data` is a message; an `id` is what a `Last-Event-ID` may name",
  'event: message\nid: MToxOjQy\ndata: {"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}\n\n',
);

export const McpError = z
  .object({
    jsonrpc: z.literal("2.0").describe("The version of JSON-RPC"),
    id: z.null().describe("Always null: the error is of no request that could be read"),
    error: z
      .looseObject({
        code: field.integer("A code of JSON-RPC or of the protocol", -32_600),
        message: field.text("What is wrong", "Session not found"),
      })
      .describe("What went wrong"),
    detail: z
      .unknown()
      .optional()
      .meta({ description: "As in other answers of the API", example: "Session not found" }),
  })
  .meta({ id: "McpError" });

export const ProtectedResource = z
  .object({
    resource: field.text(
      "What access tokens must name as their audience",
      "https://holdfast.example.org/mcp",
    ),
    resource_name: field.text("Its name, for people", "Holdfast"),
    authorization_servers: z.array(z.string()).meta({
      description: "Who gives tokens; empty: API keys alone",
      example: ["https://login.example.org"],
    }),
    scopes_supported: z
      .array(z.string())
      .meta({ description: "What to ask the issuer for", example: ["openid", "email"] }),
    bearer_methods_supported: z
      .array(z.string())
      .meta({ description: "Tokens are sent in the header `Authorization`", example: ["header"] }),
    resource_documentation: field.text("Where it is described", "https://holdfast.example.org/docs/"),
  })
  .meta({ id: "ProtectedResource" });
