/** What a handler may answer other than JSON: bytes, or a response that it writes itself. */
import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";

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
  /** Writes head and body of `res` and ends it. What it throws is logged and cuts the connection. */
  readonly write: (res: ServerResponse) => Promise<void>;
}

/** An answer that is sent as it is: downloads, `text/markdown`, static files. */
export function raw(answer: Omit<RawAnswer, "kind">): RawAnswer {
  return { kind: RAW, ...answer };
}

/** An answer that `write` sends by itself, such as server-sent events. What fails before the first byte must be thrown before this. */
export function stream(write: StreamAnswer["write"]): StreamAnswer {
  return { kind: STREAM, write };
}

export function isRaw(value: unknown): value is RawAnswer {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === RAW;
}

export function isStream(value: unknown): value is StreamAnswer {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === STREAM;
}
