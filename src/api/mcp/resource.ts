/** What `/mcp` is to an authorization server: a resource that access tokens name as their audience. */
import type { Deps } from "../deps.ts";
import type { ErrorAnswer } from "../errors/answer-error.ts";
import { rpcAnswer } from "./rpc-error.ts";

export const MCP_PATH = "/mcp";
export const METADATA_PATH = "/.well-known/oauth-protected-resource";

/** RFC 9728. @param issuer undefined: only API keys let callers in */
export function protectedResource(publicUrl: string, issuer: string | undefined) {
  return {
    resource: publicUrl + MCP_PATH,
    resource_name: "Holdfast",
    authorization_servers: issuer === undefined ? [] : [issuer],
    scopes_supported: ["openid", "email"],
    bearer_methods_supported: ["header"],
    resource_documentation: `${publicUrl}/docs/`,
  };
}

/** The form of `/mcp`'s error answers: JSON-RPC's, and where a client without credentials gets some. */
export function mcpErrorForm(answer: ErrorAnswer, { api }: Deps["config"]): ErrorAnswer {
  const shown = rpcAnswer(answer);
  if (shown.status !== 401) return shown;
  const challenge = `Bearer resource_metadata="${api.publicUrl}${METADATA_PATH}${MCP_PATH}"`;
  const isToken = answer.body.error.code !== "authentication_required";
  const headers = {
    ...shown.headers,
    "WWW-Authenticate": challenge + (isToken ? ', error="invalid_token"' : ""),
  };
  return { ...shown, headers };
}
