/** What a handler may answer other than JSON: bytes, or a response that it writes itself. */
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { DomainError } from "../domain/errors.ts";

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

/** The strong entity tag of a resource's state, from whatever changes with it. */
export function etagOf(...parts: (string | number | Date | null)[]): string {
  const state = parts.map((part) => (part instanceof Date ? part.getTime() : part)).join("\n");
  return `"${createHash("sha256").update(state).digest("base64url").slice(0, 22)}"`;
}

/** True where one of a header's entity tags is `etag`, or where it is `*`. Weak marks are passed over. */
export function listsEtag(header: string, etag: string): boolean {
  return header.split(",").some((tag) => ["*", etag].includes(tag.trim().replace(/^W\//, "")));
}

/** @throws DomainError `precondition_failed` where the request says `If-Match` and the resource has changed since. */
export function requireMatch(headers: IncomingHttpHeaders, etag: string): void {
  const header = headers["if-match"];
  if (header !== undefined && !listsEtag(header, etag))
    throw new DomainError("precondition_failed", "The resource has changed since it was read.");
}
