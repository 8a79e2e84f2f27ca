/** What a client sends to `/mcp`, by method: messages, the stream of a session, and its end. */
import {
  CancelledNotificationSchema,
  isInitializeRequest,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { cancelMcpAnswer } from "../../db/mcp/answers.ts";
import { deleteMcpSession, type McpSession, useMcpSession } from "../../db/mcp/sessions.ts";
import { DomainError, type ErrorReason } from "../../domain/errors.ts";
import { isUuid } from "../../domain/ids.ts";
import { auditRefusal } from "../audit-request.ts";
import { describeError, errorGuide } from "../errors/error-body.ts";
import { raw, type RawAnswer, type StreamAnswer } from "../response.ts";
import { answerRequest, type McpContext } from "./answer-request.ts";
import { placeOfEvent } from "./kept-answer.ts";
import { PROTOCOL_VERSIONS } from "./methods.ts";
import { followSession } from "./notifications.ts";
import { requireOrigin } from "./origin.ts";
import { MCP_PATH } from "./resource.ts";
import { resumeAnswer } from "./resume.ts";
import { RPC_CODES, RpcError } from "./rpc-error.ts";

/** By which a request is found that is cancelled. */
const MAX_ID_CHARACTERS = 256;
const VERSIONS: readonly string[] = PROTOCOL_VERSIONS;

/** What answers of other routes with this status say in `error.code`. */
const REASONS: Readonly<Record<number, ErrorReason>> = { 404: "not_found", 405: "method_not_allowed" };

/** An error whose answer has another status than 400. */
class StatusError extends RpcError {
  readonly status: number;

  constructor(status: number, code: number, message: string) {
    super(code, message);
    this.status = status;
  }
}

/** Answers a POST. What is not JSON-RPC is a JSON-RPC error with the status 400. */
export const answerMessage = (context: McpContext, body: unknown): Promise<RawAnswer | StreamAnswer> =>
  withRpcErrors(context, "POST", async () => {
    requireOrigin(context.request.headers.origin, context.deps.config);
    const message = messageOf(body);
    // A request that would begin a session and names one is sent to that, which refuses it.
    const isBeginning = isInitializeRequest(message) && sessionIdOf(context) === undefined;
    const session = isBeginning ? undefined : await requireSession(context);
    if ("method" in message && "id" in message) {
      if (session !== undefined && message.method === "initialize")
        throw new RpcError(RPC_CODES.invalidRequest, "This session has already been initialized");
      return answerRequest(context, session, message);
    }
    if (session !== undefined) await hear(context, session, message);
    return raw({ contentType: "application/json", body: null, status: 202 });
  });

/** Answers a GET: the session's notifications, or the rest of an answer. */
export const answerStream = (context: McpContext): Promise<RawAnswer | StreamAnswer> =>
  withRpcErrors(context, "GET", async () => {
    const { request, principal, deps } = context;
    requireOrigin(request.headers.origin, deps.config);
    if (!/text\/event-stream|\*\/\*/.test(request.headers.accept ?? ""))
      throw new StatusError(406, RPC_CODES.refused, "Not Acceptable: the answer is text/event-stream");
    const session = await requireSession(context);
    const last = request.headers["last-event-id"];
    const lastEventId = typeof last === "string" && last !== "" ? last : undefined;
    const place = lastEventId === undefined ? undefined : placeOfEvent(lastEventId);
    if (place !== undefined) return resumeAnswer(context, session, place);
    // Clients take this for a server without notifications.
    if (!principal.capabilities.has("read"))
      throw new StatusError(405, RPC_CODES.refused, "There are no notifications for this API key");
    return followSession(context, session, lastEventId);
  });

/** Answers a DELETE. */
export const endSession = (context: McpContext): Promise<RawAnswer | StreamAnswer> =>
  withRpcErrors(context, "DELETE", async () => {
    requireOrigin(context.request.headers.origin, context.deps.config);
    const { id } = await requireSession(context);
    await deleteMcpSession(context.deps.db, context.principal, id);
    return raw({ contentType: "application/json", body: null, status: 204 });
  });

async function withRpcErrors(
  context: McpContext,
  method: "POST" | "GET" | "DELETE",
  work: () => Promise<RawAnswer | StreamAnswer>,
): Promise<RawAnswer | StreamAnswer> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { code, message } = error;
    const status = error instanceof StatusError ? error.status : 400;
    const reason = new DomainError(REASONS[status] ?? "bad_request", message, { status });
    noteRefusedSession(context, method, reason);
    const data = describeError(reason, errorGuide(context.deps.config.api.publicUrl));
    return raw({
      contentType: "application/json",
      body: JSON.stringify({ jsonrpc: "2.0", id: null, detail: message, error: { code, message, data } }),
      status,
    });
  }
}

/** The answer is none that fails for the route, which notes those. */
function noteRefusedSession(context: McpContext, method: string, reason: DomainError): void {
  const { deps, principal, request } = context;
  const params = { mcp_session_id: sessionIdOf(context) ?? "" };
  const audit = { action: "mcp:use", resource: "mcp_session" };
  const about = { deps, principal, params, requestId: request.id, body: undefined };
  auditRefusal({ method, fullPath: MCP_PATH, audit }, about, reason);
}

/** @throws RpcError */
function messageOf(body: unknown): JSONRPCMessage {
  if (Array.isArray(body))
    throw new RpcError(RPC_CODES.invalidRequest, "Invalid Request: batches are not part of this protocol");
  const parsed = JSONRPCMessageSchema.safeParse(body);
  if (!parsed.success) throw new RpcError(RPC_CODES.invalidRequest, "Invalid Request: not JSON-RPC 2.0");
  if ("id" in parsed.data && String(parsed.data.id).length > MAX_ID_CHARACTERS)
    throw new RpcError(
      RPC_CODES.invalidRequest,
      `Invalid Request: an id has at most ${MAX_ID_CHARACTERS} characters`,
    );
  return parsed.data;
}

function sessionIdOf({ request }: McpContext): string | undefined {
  const id = request.headers["mcp-session-id"];
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** @throws RpcError 400 without one, 404 for one that is unknown, over, or somebody else's */
async function requireSession(context: McpContext): Promise<McpSession> {
  const { deps, principal, request } = context;
  const id = sessionIdOf(context);
  if (id === undefined)
    throw new RpcError(RPC_CODES.refused, "Bad Request: the header Mcp-Session-Id is required");
  const session = isUuid(id) ? await useMcpSession(deps.db, principal, id.toLowerCase()) : undefined;
  if (session === undefined) throw new StatusError(404, -32_001, "Session not found");
  const version = request.headers["mcp-protocol-version"];
  if (version !== undefined && !VERSIONS.includes(String(version)))
    throw new RpcError(
      RPC_CODES.refused,
      `Bad Request: unsupported protocol version (supported: ${VERSIONS.join(", ")})`,
    );
  return session;
}

/** Of what clients notify, only that a request is not wanted any more does something. */
async function hear({ deps, principal }: McpContext, { id }: McpSession, message: JSONRPCMessage) {
  const cancelled = CancelledNotificationSchema.safeParse(message);
  const requestId = cancelled.success ? cancelled.data.params.requestId : undefined;
  if (requestId === undefined) return;
  const name = JSON.stringify(requestId);
  // It may run in another process, which looks for this once a second.
  await cancelMcpAnswer(deps.db, { organization: principal.organization, sessionId: id }, name);
  deps.mcp.cancel(id, name);
}
