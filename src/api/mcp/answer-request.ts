/**
 * Answers one request of the protocol: a server of the official SDK and its transport, made for this request
 * alone. Whatever outlives it is in the session's row, so that any process answers the next one.
 */
import { randomUUID } from "node:crypto";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { JSONRPCRequest, ServerNotification } from "@modelcontextprotocol/sdk/types.js";
import { insertMcpSession, type McpSession } from "../../db/mcp/sessions.ts";
import { raw, type RawAnswer, type StreamAnswer } from "../response.ts";
import type { Deps } from "../deps.ts";
import type { RouteContext } from "../route.ts";
import type { McpCall } from "./call.ts";
import { type AnswerStore, createAnswerStore } from "./kept-answer.ts";
import { runMethod, versionFor } from "./methods.ts";
import { sendAnswer } from "./send-answer.ts";
import { findTool } from "./tools/index.ts";

export type McpContext = Pick<
  RouteContext<"keys", unknown, unknown, unknown>,
  "deps" | "principal" | "caller" | "request"
>;

const SESSION_HEADER = "Mcp-Session-Id";

/** Nothing is asked of clients, so that nothing of theirs is checked. */
const NO_VALIDATOR = {
  getValidator: () => () => ({ valid: false as const, data: undefined, errorMessage: "nothing is asked" }),
};

/** @param session undefined for the request that begins one */
export async function answerRequest(
  context: McpContext,
  session: McpSession | undefined,
  message: JSONRPCRequest,
): Promise<RawAnswer | StreamAnswer> {
  const { deps, principal } = context;
  const isStream = session !== undefined && isLong(context, message);
  const requestId = JSON.stringify(message.id);
  const store = isStream
    ? createAnswerStore(deps, {
        organization: principal.organization,
        sessionId: session.id,
        requestId,
        apiProcessId: deps.chat.apiProcessId,
        spaceIds: [...principal.reach.keys()],
      })
    : undefined;
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: !isStream,
    ...(store === undefined ? {} : { eventStore: store }),
  });
  const server = await connectServer(context, { session, transport, store });
  const cancelled = Promise.withResolvers<void>();
  const cancel = (): void => {
    // What still runs is aborted, and its answer is not sent.
    void server.close();
    cancelled.resolve();
  };
  const leave = session === undefined ? undefined : deps.mcp.enter(session.id, requestId, cancel);
  const answered = transport.handleRequest(webRequest(context, session), { parsedBody: message });
  if (store !== undefined)
    return sendAnswer(context, { answered, cancelled: cancelled.promise, cancel, leave: leave!, store });
  context.request.signal.addEventListener("abort", cancel, { once: true });
  if (context.request.signal.aborted) cancel();
  const response = await Promise.race([answered, cancelled.promise]).finally(leave);
  // To a cancelled request nothing is answered.
  if (response === undefined) return raw({ contentType: "text/plain", body: null, status: 202 });
  const text = await response.text();
  const headers = session === undefined ? await beginSession(context, message, text) : {};
  return raw({ contentType: "application/json", body: text, status: response.status, headers });
}

/** An answer that takes long, or whose client wants to know how far it is, is a stream. */
function isLong({ principal }: McpContext, { method, params }: JSONRPCRequest): boolean {
  if (params?._meta?.progressToken !== undefined) return true;
  const name: unknown = method === "tools/call" ? params?.["name"] : undefined;
  return typeof name === "string" && findTool(principal, name)?.isLong === true;
}

interface Connected {
  readonly session: McpSession | undefined;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly store: AnswerStore | undefined;
}

async function connectServer(context: McpContext, { session, transport, store }: Connected): Promise<Server> {
  const { deps, principal, caller, request } = context;
  const about = { name: "holdfast", version: deps.mcp.version };
  const server = new Server(about, { jsonSchemaValidator: NO_VALIDATOR });
  // `initialize` has a handler of the SDK's own, which speaks older versions too.
  server.removeRequestHandler("initialize");
  server.fallbackRequestHandler = async (asked, extra) => {
    const token = extra._meta?.progressToken;
    const call: McpCall = {
      deps,
      principal,
      caller,
      request,
      session,
      signal: extra.signal,
      shown: (documentIds) => store?.shown(documentIds),
      progress: (report) => {
        if (token === undefined) return;
        const told = { method: "notifications/progress", params: { progressToken: token, ...report } };
        void extra.sendNotification(told as ServerNotification).catch(() => undefined);
      },
    };
    return runMethod(call, asked);
  };
  server.onerror = (error) => deps.log.debug({ err: error }, "a protocol message failed");
  await server.connect(transport);
  return server;
}

/** The head of the request, as the SDK reads it. The body was read within the bounds of JSON bodies. */
function webRequest({ request }: McpContext, session: McpSession | undefined): Request {
  const { accept = "", "content-type": type = "" } = request.headers;
  const version = request.headers["mcp-protocol-version"] ?? session?.protocol_version;
  return new Request("http://localhost/mcp", {
    method: "POST",
    headers: {
      accept,
      "content-type": type,
      ...(version === undefined ? {} : { "mcp-protocol-version": String(version) }),
    },
  });
}

/** Makes the session that the answer to `initialize` promises. */
async function beginSession(
  { deps, principal }: { readonly deps: Deps } & Pick<McpContext, "principal">,
  { params }: JSONRPCRequest,
  answer: string,
): Promise<Record<string, string>> {
  if (!("result" in (JSON.parse(answer) as object))) return {};
  const id = randomUUID();
  const { protocolVersion, capabilities } = params as {
    protocolVersion: string;
    capabilities: Record<string, unknown>;
  };
  const isSmall = JSON.stringify(capabilities).length <= MAX_CAPABILITIES_CHARACTERS;
  await insertMcpSession(deps.db, principal, {
    id,
    protocolVersion: versionFor(protocolVersion),
    clientCapabilities: isSmall ? capabilities : {},
  });
  return { [SESSION_HEADER]: id };
}

/** Nothing is done by them yet; what is longer is not kept. */
const MAX_CAPABILITIES_CHARACTERS = 8_192;
