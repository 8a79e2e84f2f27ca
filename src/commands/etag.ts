/** Entity tags: they tell whether a resource is still as a client read it. */
import { createHash } from "node:crypto";
import { DomainError } from "../domain/errors.ts";

/** What is changed if it is still as the caller read it. */
export interface IfUnchanged {
  readonly id: string;
  /** The request's `If-Match` header; undefined: in every state. */
  readonly ifMatch: string | undefined;
}

/** The strong entity tag of a resource. @param parts its id, and what changes whenever the resource does. */
export function etagOf(...parts: (string | number | Date | null)[]): string {
  const state = parts.map((part) => (part instanceof Date ? part.getTime() : part)).join("\n");
  return `"${createHash("sha256").update(state).digest("base64url").slice(0, 22)}"`;
}

/**
 * True if one of a header's entity tags is `etag`, or if the header is `*`. Weak marks of both are ignored.
 * @see https://www.rfc-editor.org/rfc/rfc9110#name-if-match
 */
export function listsEtag(header: string, etag: string): boolean {
  const bare = (tag: string): string => tag.trim().replace(/^W\//, "");
  return header.split(",").some((tag) => ["*", bare(etag)].includes(bare(tag)));
}

/**
 * @param ifMatch the request's `If-Match` header; if it is undefined, every state is accepted.
 * @throws DomainError `precondition_failed` if the resource has changed since the caller read it.
 */
export function requireUnchanged(ifMatch: string | undefined, etag: string): void {
  if (ifMatch !== undefined && !listsEtag(ifMatch, etag))
    throw new DomainError("precondition_failed", "The resource has changed since it was read.");
}
