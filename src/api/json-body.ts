/** The only reader of JSON bodies: bounded, kept as sent for idempotency hashes, and told apart from what is no JSON. */
import { createHash } from "node:crypto";
import type { Context } from "koa";
import { koaBody } from "koa-body";
import { DomainError } from "../domain/errors.ts";
import type { Problem } from "../schema/problem.ts";
import { firstSyntaxError } from "./json-body-syntax.ts";
import { findUnusable, type Parsed } from "./validation.ts";

const MAX_JSON_BODY_BYTES = 4 * 1_024 * 1_024;

/** Reads any body as text: what is no JSON is echoed in its 422 as pydantic does. */
const readText = koaBody({ json: false, urlencoded: false, multipart: false, text: true, textTypes: ["*/*"], textLimit: MAX_JSON_BODY_BYTES, patchNode: false });

export interface JsonBody {
  readonly parsed: Parsed;
  /** SHA-256 of the text as sent; undefined without one. */
  readonly hash: Buffer | undefined;
}

/**
 * Reads the request's JSON. An absent body is `undefined`.
 * @throws DomainError `bad_request` where it is over 4 MiB, cut off, or encoded in a way that cannot be read.
 */
export async function readJsonBody(ctx: Context): Promise<JsonBody> {
  const text = await readBody(ctx);
  if (text === "") return { parsed: { value: undefined }, hash: undefined };
  const hash = createHash("sha256").update(text).digest();
  return { parsed: ctx.is("json", "+json") === false ? { value: text } : parseJson(text), hash };
}

const UNTYPED = "application/octet-stream";

async function readBody(ctx: Context): Promise<string> {
  // A body without a type would not be read at all.
  ctx.req.headers["content-type"] ??= UNTYPED;
  try {
    await readText(ctx, async () => {});
  } catch (error) {
    throw asBadRequest(error);
  }
  const body: unknown = ctx.request.body;
  return typeof body === "string" ? body : "";
}

function asBadRequest(error: unknown): DomainError {
  const type = error instanceof Error && "type" in error ? error.type : undefined;
  if (type === "entity.too.large") return new DomainError("bad_request", `JSON body exceeds maximum allowed of ${MAX_JSON_BODY_BYTES} bytes`);
  return new DomainError("bad_request", "There was an error parsing the body", { cause: error });
}

function parseJson(text: string): Parsed {
  try {
    const value: unknown = JSON.parse(text);
    const problems = findUnusable(value, "body");
    return problems.length > 0 ? { problems } : { value };
  } catch {
    return { problems: [jsonInvalid(text)] };
  }
}

function jsonInvalid(text: string): Problem {
  const { position, error } = firstSyntaxError(text);
  return { type: "json_invalid", loc: ["body", position], msg: "JSON decode error", input: {}, ctx: { error } };
}
