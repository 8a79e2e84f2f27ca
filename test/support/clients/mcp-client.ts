/** The official client of the Model Context Protocol, on a stack. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { onTestFinished } from "vitest";

export interface McpConnection {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
}

/** Connects, and closes when the test is over. @param fetchOf sees every request */
export async function connectMcp(
  url: string,
  credentials: string,
  options: { readonly sessionId?: string; readonly fetch?: typeof fetch } = {},
): Promise<McpConnection> {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${credentials}` } },
    ...(options.sessionId === undefined ? {} : { sessionId: options.sessionId }),
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, transport };
}

interface RawMcp {
  readonly sessionId?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
}

/** Sends one message as it is. */
export async function postMcp(
  url: string,
  credentials: string | null,
  body: unknown,
  { sessionId, headers = {}, method = "POST" }: RawMcp = {},
): Promise<Response> {
  return fetch(`${url}/mcp`, {
    method,
    headers: {
      ...(credentials === null ? {} : { authorization: `Bearer ${credentials}` }),
      ...(sessionId === undefined ? {} : { "mcp-session-id": sessionId }),
      accept: "application/json, text/event-stream",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
}

/** Begins a session by hand. @returns its id */
export async function beginMcp(url: string, credentials: string, version = "2025-11-25"): Promise<string> {
  const response = await postMcp(url, credentials, {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: version, capabilities: {}, clientInfo: { name: "test", version: "1" } },
  });
  const id = response.headers.get("mcp-session-id");
  if (id === null) throw new Error(`no session: ${response.status} ${await response.text()}`);
  return id;
}
