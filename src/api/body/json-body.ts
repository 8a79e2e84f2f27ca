/** Reads JSON bodies within bounds, and hashes them as they were sent, for idempotency. */
import { createHash } from "node:crypto";
import type { Context, Middleware } from "koa";
import { koaBody } from "koa-body";
import { DomainError } from "../../domain/errors.ts";
import type { Problem } from "../../schema/requests/problem.ts";
import { firstSyntaxError } from "./json-body-syntax.ts";
import { JSON_LIMITS, type JsonLimits, limitPassed } from "./json-limits.ts";
import { findUnusable, type Parsed } from "../validation/validate.ts";

/** Enough for the largest body at 1.1 megabits a second. */
const JSON_BODY_TIMEOUT_MS = 30_000;

const readersByLimit = new Map<number, Middleware>();

/** Reads a body of any type, one character a byte, so that invalid UTF-8 is noticed and not replaced. */
function readerOf(maxBytes: number): Middleware {
  const known = readersByLimit.get(maxBytes);
  if (known !== undefined) return known;
  const reader = koaBody({
    json: false,
    urlencoded: false,
    multipart: false,
    text: true,
    textTypes: ["*/*"],
    textLimit: maxBytes,
    encoding: "binary",
    patchNode: false,
  });
  readersByLimit.set(maxBytes, reader);
  return reader;
}
const utf8 = new TextDecoder("utf-8", { fatal: true });

interface ReadOptions {
  readonly limits?: JsonLimits | undefined;
  readonly timeoutMs?: number;
  /** Accepts text that Postgres refuses; the handler must cope with it. */
  readonly isAnyText?: boolean | undefined;
}

export interface JsonBody {
  readonly parsed: Parsed;
  /** SHA-256 of the bytes as sent; undefined if there is no body. */
  readonly hash: Buffer | undefined;
}

/**
 * Reads the request's JSON. A missing body is `undefined`; a body that is not JSON becomes a problem in
 * pydantic's words.
 * @throws DomainError `bad_request` if the body passes a limit, is cut off, takes longer than `timeoutMs`
 *   (default 30 s), or has an encoding that cannot be read.
 */
export async function readJsonBody(
  ctx: Context,
  { limits = JSON_LIMITS, timeoutMs = JSON_BODY_TIMEOUT_MS, isAnyText = false }: ReadOptions = {},
): Promise<JsonBody> {
  const bytes = await readBody(ctx, limits.maxBytes, timeoutMs);
  if (bytes.length === 0) return { parsed: { value: undefined }, hash: undefined };
  const isJson = ctx.is("json", "+json") !== false;
  // Checked first, so that a refused body costs neither a hash nor a string.
  const fault = isJson ? limitPassed(bytes, limits) : null;
  if (fault !== null) throw new DomainError("malformed_body", fault);
  const hash = createHash("sha256").update(bytes).digest();
  const text = decode(bytes);
  return { parsed: isJson ? parseJson(text, isAnyText) : { value: text }, hash };
}

const UNTYPED = "application/octet-stream";

async function readBody(ctx: Context, maxBytes: number, timeoutMs: number): Promise<Buffer> {
  // The reader ignores a body without a type.
  ctx.req.headers["content-type"] ??= UNTYPED;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    // The rest of the body is not read, so the connection must end with the answer.
    ctx.set("Connection", "close");
    reject(new DomainError("malformed_body", `JSON body did not arrive within ${timeoutMs / 1_000} seconds`));
  }, timeoutMs);
  try {
    await Promise.race([readerOf(maxBytes)(ctx, async () => {}), late]);
  } catch (error) {
    throw error instanceof DomainError ? error : asBadRequest(error, maxBytes);
  } finally {
    clearTimeout(timer);
  }
  const body: unknown = ctx.request.body;
  return Buffer.from(typeof body === "string" ? body : "", "binary");
}

/** Drops a byte order mark. */
function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw unreadable(error);
  }
}

function unreadable(cause: unknown): DomainError {
  return new DomainError("malformed_body", "There was an error parsing the body", { cause });
}

function asBadRequest(error: unknown, maxBytes: number): DomainError {
  const type = error instanceof Error && "type" in error ? error.type : undefined;
  if (type === "entity.too.large")
    return new DomainError("body_too_large", `JSON body exceeds maximum allowed of ${maxBytes} bytes`);
  return unreadable(error);
}

function parseJson(text: string, isAnyText: boolean): Parsed {
  try {
    const value: unknown = JSON.parse(text);
    const problems = isAnyText ? [] : findUnusable(value, "body");
    return problems.length > 0 ? { problems } : { value };
  } catch {
    return { problems: [jsonInvalid(text)] };
  }
}

function jsonInvalid(text: string): Problem {
  const { position, error } = firstSyntaxError(text);
  return {
    type: "json_invalid",
    loc: ["body", position],
    msg: "JSON decode error",
    input: {},
    ctx: { error },
  };
}
