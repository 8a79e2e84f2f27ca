/** The Model Context Protocol: messages, notifications, and what the resource says of itself. */
import { notFound } from "../../../domain/not-found.ts";
import { McpError, McpEvents, McpMessage, ProtectedResource } from "../../../schema/mcp/wire.ts";
import { answerMessage, answerStream, endSession } from "../../mcp/requests.ts";
import { MCP_PATH, mcpErrorForm, METADATA_PATH, protectedResource } from "../../mcp/resource.ts";
import { defineRoute } from "../../route.ts";

const failure = (description: string) => ({ schema: McpError, description });

const ERRORS = {
  400: failure("The request is not a protocol message, or names an unsupported version"),
  401: failure("The credentials are missing or refused; `WWW-Authenticate` says where to get some"),
  403: failure("The page's origin, or the caller, is not allowed"),
  404: failure("There is no such session of the caller"),
};

const SESSION = {
  "Mcp-Session-Id": "The session, as the answer to `initialize` named it",
  "MCP-Protocol-Version": "The version that was agreed on",
};

const COMMON = {
  isUnversioned: true,
  access: "keys",
  tokenResource: MCP_PATH,
  presentError: mcpErrorForm,
  // Of a refusal; what the tools and resources do has rows of its own.
  audit: { action: "mcp:use", resource: "mcp_session", isChange: true },
  ownErrors: ERRORS,
  errors: [400, 403, 404],
} as const;

const postMcp = defineRoute(`POST ${MCP_PATH}`, {
  ...COMMON,
  operation: "mcp.send",
  summary: "A message of the Model Context Protocol, over Streamable HTTP.",
  description:
    "Speaks 2025-11-25 and 2025-06-18. `initialize` begins a session, which any process serves " +
    "and which is its caller's alone. A tool that takes long, and a request with a " +
    "`progressToken`, is answered by a stream that can be gone on with; a notification by 202.",
  body: McpMessage,
  ignoresUnknown: true,
  headers: SESSION,
  replyHeaders: { "Mcp-Session-Id": "The new session, in the answer to `initialize`" },
  response: McpMessage,
  otherStatuses: { 202: "A notification was heard" },
  otherContent: { "text/event-stream": { schema: McpEvents } },
  handle: (context) => answerMessage(context, context.body),
});

const getMcp = defineRoute(`GET ${MCP_PATH}`, {
  ...COMMON,
  operation: "mcp.stream",
  summary: "Stream a session's notifications, or the rest of an answer, as server-sent events.",
  description:
    "Tells of changes of the documents that the session has subscribed to, and of lists that " +
    "changed. With a `Last-Event-ID` it goes on after that event, also with an answer whose " +
    "connection broke. A session has one stream: a later one takes the place of the one before.",
  headers: { ...SESSION, "Last-Event-ID": "The last event that was received" },
  otherContent: { "text/event-stream": { schema: McpEvents } },
  errors: [400, 403, 404, 405, 406],
  ownErrors: {
    ...ERRORS,
    405: failure("There are no notifications for this key"),
    406: failure("The client does not take text/event-stream"),
  },
  handle: (context) => answerStream(context),
});

const deleteMcp = defineRoute(`DELETE ${MCP_PATH}`, {
  ...COMMON,
  operation: "mcp.end",
  status: 204,
  summary: "End a session.",
  description:
    "Its requests that still run are cancelled within a second, and its stream ends at the next event.",
  headers: SESSION,
  handle: (context) => endSession(context),
});

const metadata = (path: `/${string}`, operation: string) =>
  defineRoute(`GET ${path}`, {
    operation,
    isUnversioned: true,
    access: "public",
    summary: "The authorization servers that issue access tokens for `/mcp` (RFC 9728).",
    description: "404 where no issuer is configured: then API keys alone let callers in.",
    errors: [404],
    response: ProtectedResource,
    async handle({ deps: { config } }) {
      if (config.oidc === undefined) throw notFound("page");
      return protectedResource(config.api.publicUrl, config.oidc.issuer);
    },
  });

export const mcpRoutes = [
  postMcp,
  getMcp,
  deleteMcp,
  metadata(METADATA_PATH, "mcp.resource.root"),
  metadata(`${METADATA_PATH}${MCP_PATH}`, "mcp.resource.get"),
];
