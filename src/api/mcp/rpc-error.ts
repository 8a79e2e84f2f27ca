/** Errors as JSON-RPC has them. */
import { z } from "zod";
import { DomainError } from "../../domain/errors.ts";
import { ValidationProblems } from "../../schema/requests/problem.ts";
import { answerError, type ErrorAnswer } from "../errors/answer-error.ts";

export const RPC_CODES = {
  parse: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  /** Of the protocol: what a resource's address names does not exist. */
  resourceNotFound: -32_002,
  /** Of the server. */
  refused: -32_000,
} as const;

/** The protocol reads `code` and `data` of whatever is thrown, and shows the message as it is. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = "RpcError";
    this.code = code;
    this.data = data;
  }
}

/** A failure of a request in the protocol's words. An unexpected one says nothing of itself. */
export function asRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  if (error instanceof z.ZodError)
    return new RpcError(RPC_CODES.invalidParams, `Invalid params: ${pathsOf(error)}`);
  const { status, body, isUnexpected } = answerError(error);
  if (isUnexpected) return new RpcError(RPC_CODES.internal, "Internal error");
  return new RpcError(codeOf(status), messageOf(error, body), { code: body.error.code, status });
}

/** What a tool that failed says to the model, and to programs. Undefined: nobody expected it. */
export function failureOf(error: unknown): { message: string; code: string; status: number } | undefined {
  const { status, body, isUnexpected } = answerError(error);
  if (isUnexpected) return undefined;
  return { message: messageOf(error, body), code: body.error.code, status };
}

function messageOf(error: unknown, body: ErrorAnswer["body"]): string {
  return error instanceof DomainError || error instanceof ValidationProblems
    ? body.error.message
    : "Internal error";
}

function codeOf(status: number): number {
  if (status === 404) return RPC_CODES.resourceNotFound;
  return status === 400 || status === 422 ? RPC_CODES.invalidParams : RPC_CODES.refused;
}

/** Names fields and rules, never values. */
export function pathsOf(error: z.ZodError): string {
  const shown = error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join(".") || "params"}: ${message}`);
  return shown.join("; ");
}

/** An error answer of `/mcp`: JSON-RPC's object without an id, and `detail` as everywhere. */
export function rpcAnswer({ status, body, ...rest }: ErrorAnswer): ErrorAnswer {
  const shown = status === 422 ? 400 : status;
  const error = { code: rpcCodeOf(body), message: body.error.message, data: body.error };
  return {
    ...rest,
    status: shown,
    body: { jsonrpc: "2.0", id: null, detail: body.detail, error } as unknown as ErrorAnswer["body"],
  };
}

function rpcCodeOf({ detail, error }: ErrorAnswer["body"]): number {
  const first: unknown = Array.isArray(detail) ? detail[0] : undefined;
  const isSyntax =
    typeof first === "object" && first !== null && "type" in first && first.type === "json_invalid";
  if (isSyntax || error.code === "malformed_body") return RPC_CODES.parse;
  return error.code === "invalid" ? RPC_CODES.invalidRequest : RPC_CODES.refused;
}
