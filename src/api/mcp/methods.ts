/** The methods of the protocol that a client may call, each with the shape of its request. */
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  type InitializeResult,
  InitializeRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  type Result,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { z } from "zod";
import { mcpRequests } from "../../telemetry/instruments.ts";
import type { McpCall } from "./call.ts";
import { complete } from "./completion.ts";
import { getPrompt, listPrompts } from "./prompts.ts";
import { listResources, listTemplates, readResource, subscribe, unsubscribe } from "./resources.ts";
import { asRpcError, RPC_CODES, RpcError } from "./rpc-error.ts";
import { callTool, isToolName, shownTools } from "./tools/index.ts";

/** The newest first, which is offered to clients that name none of them. */
export const PROTOCOL_VERSIONS = ["2025-11-25", "2025-06-18"] as const;

const INSTRUCTIONS =
  "Holdfast holds documents in spaces, and answers from them. Use search to find passages, " +
  "read_document for the text around them, list_agents for the agents that there are, and ask_agent " +
  "with the id of one for an answer with citations. Only what the caller may read is there.";

interface Method {
  readonly run: (call: McpCall, request: unknown) => Promise<Result>;
}

const method = <S extends z.ZodType>(
  schema: S,
  run: (call: McpCall, request: z.output<S>) => Promise<object> | object,
): Method => ({ run: async (call, request) => (await run(call, schema.parse(request))) as Result });

const METHODS: Readonly<Record<string, Method>> = {
  initialize: method(InitializeRequestSchema, ({ deps }, { params }) =>
    initialized(deps, params.protocolVersion),
  ),
  "tools/list": method(ListToolsRequestSchema, ({ principal }) => ({ tools: shownTools(principal) })),
  "tools/call": method(CallToolRequestSchema, (call, { params }) =>
    callTool(call, params.name, params.arguments),
  ),
  "resources/list": method(ListResourcesRequestSchema, (call, { params }) =>
    listResources(call, params?.cursor),
  ),
  "resources/templates/list": method(ListResourceTemplatesRequestSchema, listTemplates),
  "resources/read": method(ReadResourceRequestSchema, (call, { params }) => readResource(call, params.uri)),
  "resources/subscribe": method(SubscribeRequestSchema, (call, { params }) => subscribe(call, params.uri)),
  "resources/unsubscribe": method(UnsubscribeRequestSchema, (call, { params }) =>
    unsubscribe(call, params.uri),
  ),
  "prompts/list": method(ListPromptsRequestSchema, (call, { params }) => listPrompts(call, params?.cursor)),
  "prompts/get": method(GetPromptRequestSchema, (call, { params }) =>
    getPrompt(call, params.name, params.arguments),
  ),
  "completion/complete": method(CompleteRequestSchema, (call, { params }) =>
    complete(call, params as Parameters<typeof complete>[1]),
  ),
};

export const MCP_METHODS: readonly string[] = Object.keys(METHODS);

/** The version that both sides speak from then on: the client's, if it is spoken here. */
export function versionFor(wanted: string): string {
  return PROTOCOL_VERSIONS.find((version) => version === wanted) ?? PROTOCOL_VERSIONS[0];
}

function initialized({ mcp }: Pick<McpCall["deps"], "mcp">, wanted: string): InitializeResult {
  return {
    protocolVersion: versionFor(wanted),
    capabilities: {
      tools: {},
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      completions: {},
    },
    serverInfo: { name: "holdfast", title: "Holdfast", version: mcp.version },
    instructions: INSTRUCTIONS,
  };
}

interface Request {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

/** @throws RpcError whatever goes wrong: the protocol shows the message of anything that is thrown */
export async function runMethod(call: McpCall, request: Request): Promise<Result> {
  const found = Object.hasOwn(METHODS, request.method) ? METHODS[request.method] : undefined;
  const labels = { method: found === undefined ? "other" : request.method, tool: toolOf(request) };
  try {
    if (found === undefined) throw new RpcError(RPC_CODES.methodNotFound, "Method not found");
    const result = await found.run(call, request);
    mcpRequests.inc({ ...labels, outcome: result["isError"] === true ? "tool_error" : "ok" });
    return result;
  } catch (error) {
    mcpRequests.inc({ ...labels, outcome: call.signal.aborted ? "cancelled" : "error" });
    const shown = asRpcError(error);
    if (shown.code === RPC_CODES.internal && !call.signal.aborted)
      call.deps.log.error(
        { request_id: call.request.id, err: error },
        "a Model Context Protocol request failed unexpectedly",
      );
    throw shown;
  }
}

function toolOf({ method: name, params }: Request): string {
  const tool = name === "tools/call" ? params?.["name"] : "";
  return typeof tool === "string" && isToolName(tool) ? tool : tool === "" ? "" : "other";
}
