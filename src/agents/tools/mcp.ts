/**
 * Offers tools of Model Context Protocol servers, over streamable HTTP.
 * @see https://modelcontextprotocol.io/specification
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { z } from "zod";
import type { Agent } from "../../db/turns/agents-in-chat.ts";
import { DomainError } from "../../domain/errors.ts";
import { boundedBody } from "../../models/provider/bounded-body.ts";
import type { ToolDefinition } from "../../models/chat/chat-model.ts";
import { McpConfig } from "../../schema/tool-config.ts";
import { fenceData } from "../sources.ts";
import type { Tool, ToolOutput } from "./tool.ts";

/** A server from the settings; an agent's `config` names it as `server`. */
export interface McpServer {
  readonly url: string;
  /** Sent with every request, for the credentials of the server. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Tools that change nothing, as the operator says. Those that the server marks need not be listed. */
  readonly tools?: readonly string[] | undefined;
}

export interface McpTools {
  /** The tools of all the agent's servers; those of a server that does not answer are missing. */
  definitions(agent: Agent): Promise<ToolDefinition[]>;
  find(agent: Agent, name: string): Promise<Tool | undefined>;
}

const LIST_TIMEOUT_MS = 3_000;
const CALL_TIMEOUT_MS = 25_000;
const LIST_KEPT_MS = 60_000;
const FAILURE_KEPT_MS = 5_000;
const TOOLS_MAX = 100;
/** The largest HTTP answer that is read; the model gets far less of it. */
const ANSWER_MAX_BYTES = 8 * 1_048_576;
/** Bounds of what each request to the model says about one tool. */
const DESCRIPTION_MAX_CHARACTERS = 4_096;
const PARAMETERS_MAX_CHARACTERS = 32_768;
/** The names of tools that model providers accept. */
const USABLE_NAME = /^[\w-]{1,64}$/;

interface Offered {
  /** Named `mcp_<server>_<tool>` for the model. */
  readonly definition: ToolDefinition;
  readonly nameAtServer: string;
}

export function createMcpTools(
  servers: Readonly<Record<string, McpServer>>,
  onError: (error: unknown, server: string) => void,
): McpTools {
  const lists = new Map<string, { readonly until: number; readonly tools: Promise<readonly Offered[]> }>();

  const listed = (name: string, server: McpServer): Promise<readonly Offered[]> => {
    const kept = lists.get(name);
    if (kept !== undefined && kept.until > Date.now()) return kept.tools;
    const tools = listTools(name, server).catch((error: unknown) => {
      lists.set(name, { until: Date.now() + FAILURE_KEPT_MS, tools });
      onError(error, name);
      return [];
    });
    lists.set(name, { until: Date.now() + LIST_KEPT_MS, tools });
    return tools;
  };
  const attached = async (agent: Agent): Promise<{ server: McpServer; offered: Offered }[]> => {
    const configs = agent.tool_attachments.flatMap(({ tool_id, config }) =>
      tool_id === "mcp" ? (McpConfig.safeParse(config).data ?? []) : [],
    );
    const all = configs.map(async ({ server: name, tools: wanted }) => {
      const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
      if (server === undefined) return [];
      const offered = await listed(name, server);
      return offered
        .filter(({ nameAtServer }) => !wanted || wanted.includes(nameAtServer))
        .map((tool) => ({ server, offered: tool }));
    });
    return (await Promise.all(all)).flat();
  };

  return {
    definitions: async (agent) => (await attached(agent)).map(({ offered }) => offered.definition),
    async find(agent, name) {
      const found = (await attached(agent)).find(({ offered }) => offered.definition.name === name);
      if (found === undefined) return undefined;
      const { server, offered } = found;
      return {
        ...offered.definition,
        isNear: false,
        run: (_context, args, signal) => callTool(server, offered.nameAtServer, args, signal),
      };
    },
  };
}

/** Refuses redirects, which might lead into the internal network, and answers that are too large. */
function boundedFetch(onTooLarge: (error: Error) => void) {
  return async (url: string | URL, init?: RequestInit): Promise<Response> => {
    return boundedBody(await fetch(url, { ...init, redirect: "error" }), ANSWER_MAX_BYTES, () => {
      const error = new Error("the answer is too large");
      // The client would otherwise wait for its time-out.
      onTooLarge(error);
      return error;
    });
  };
}

/** Runs `work` in one session, and closes it however `work` ends. */
async function withClient<T>(server: McpServer, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ name: "holdfast", version: "1" });
  const tooLarge = Promise.withResolvers<never>();
  tooLarge.promise.catch(() => undefined);
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers: { ...server.headers } },
    fetch: boundedFetch(tooLarge.reject),
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 1_000,
      reconnectionDelayGrowFactor: 1,
    },
  });
  try {
    await client.connect(transport, { timeout: LIST_TIMEOUT_MS });
    return await Promise.race([work(client), tooLarge.promise]);
  } finally {
    await client.close();
  }
}

async function listTools(serverName: string, server: McpServer): Promise<Offered[]> {
  const { tools } = await withClient(server, (client) =>
    client.listTools(undefined, { timeout: LIST_TIMEOUT_MS }),
  );
  return tools.slice(0, TOOLS_MAX).flatMap(({ name, description = "", inputSchema, annotations }) => {
    const isReading = annotations?.readOnlyHint === true || server.tools?.includes(name) === true;
    const definition = {
      name: `mcp_${serverName}_${name}`,
      description: description.slice(0, DESCRIPTION_MAX_CHARACTERS),
      parameters: inputSchema,
    };
    const isUsable =
      USABLE_NAME.test(definition.name) && JSON.stringify(inputSchema).length <= PARAMETERS_MAX_CHARACTERS;
    return isReading && isUsable ? [{ definition, nameAtServer: name }] : [];
  });
}

async function callTool(
  server: McpServer,
  name: string,
  args: unknown,
  signal: AbortSignal,
): Promise<ToolOutput> {
  if (typeof args !== "object" || args === null || Array.isArray(args))
    throw new DomainError("invalid", "The arguments are not an object.");
  const result = await withClient(server, (client) =>
    client.callTool({ name, arguments: { ...args } }, undefined, { signal, timeout: CALL_TIMEOUT_MS }),
  ).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new DomainError("bad_request", "The tool's server did not answer.", { cause: error });
  });
  const text = resultText(result.content);
  if (result.isError === true)
    return { type: "error", text: `The tool reported an error. ${fenceData(text.slice(0, 1_000))}` };
  return { type: "text", text: fenceData(text) };
}

const TextPart = z.object({ type: z.literal("text"), text: z.string() });

/** Joins the text parts; each other part becomes a note. */
function resultText(content: unknown): string {
  if (!Array.isArray(content)) return "";
  return content
    .map((part: unknown) => TextPart.safeParse(part).data?.text ?? "(a part that is no text)")
    .join("\n");
}
