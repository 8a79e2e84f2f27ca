/** The answers of handlers other than JSON: bytes, or a response that the handler writes itself. */
import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import type { Context } from "koa";

const RAW = Symbol("raw");
const STREAM = Symbol("stream");

export interface RawAnswer {
  readonly kind: typeof RAW;
  readonly contentType: string;
  /** Null for answers without content, such as 304. */
  readonly body: string | Buffer | Readable | null;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface StreamAnswer {
  readonly kind: typeof STREAM;
  /** Writes head and body of `res` and ends it. On an error, that is logged and the connection is cut. */
  readonly write: (res: ServerResponse) => Promise<void>;
}

/** An answer that is sent as it is: a download, `text/markdown`, a static file. */
export function raw(answer: Omit<RawAnswer, "kind">): RawAnswer {
  return { kind: RAW, ...answer };
}

/** An answer that `write` sends by itself, such as events. Throw errors with a status before calling. */
export function stream(write: StreamAnswer["write"]): StreamAnswer {
  return { kind: STREAM, write };
}

export function isRaw(value: unknown): value is RawAnswer {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === RAW;
}

export function isStream(value: unknown): value is StreamAnswer {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === STREAM;
}

export function sendRaw(ctx: Context, answer: RawAnswer): void {
  ctx.set(answer.headers ?? {});
  const { status } = ctx;
  ctx.body = answer.body;
  ctx.status = answer.status ?? status;
  if (answer.body !== null) ctx.set("Content-Type", answer.contentType);
  const length = answer.headers?.["Content-Length"];
  if (length !== undefined) ctx.set("Content-Length", length);
}
