/** What routes and handlers know of the Idempotency-Key: how an answer is kept, and who may see it. */
import { createHash } from "node:crypto";
import type { Caller } from "../commands/caller.ts";
import type { Principal } from "../domain/tenancy/principal.ts";
import type { ReceivedUpload } from "./body/uploads.ts";
import type { Deps } from "./deps.ts";

/** What there is for a request with an Idempotency-Key. */
export interface Idempotency {
  /** For the command: a repeat gets the answer that it keeps, even if this process dies after the commit. */
  readonly keepAnswer: NonNullable<Caller["keepAnswer"]>;
  /** For whoever reads a form: call it with {@link formHash} once the form has been read. */
  readonly bindBody: (hash: Buffer) => void;
}

/** A repeat of a request that was answered before. */
export interface Repeat {
  readonly deps: Deps;
  /** The caller with its rights of today. */
  readonly principal: Principal;
  /** The parameters of the path, as the route has checked them. */
  readonly params: Readonly<Record<string, string>>;
  /** The fields of a form; empty for JSON. */
  readonly fields: Readonly<Record<string, string>>;
  /** The body of the kept answer; null if it was a refusal. */
  readonly answer: Readonly<Record<string, unknown>> | null;
}

/**
 * Checks whether the caller may see the kept answer today. It was made with the rights of its time; a role, a
 * space, a document or the scope of a key may be gone since.
 * @throws DomainError `not_found` and `permission_denied`, as the policy answers the same request made now.
 */
export type RepeatCheck = (repeat: Repeat) => Promise<void>;

/** Hashes what was sent in a form: its fields, and the file's name and content. */
export function formHash({ fields, repeated, file }: ReceivedUpload<{ readonly sha256: string }>): Buffer {
  const sorted = Object.entries({ ...fields, ...repeated }).toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
  return createHash("sha256")
    .update(JSON.stringify([sorted, file === null ? null : [file.filename, file.value.sha256]]))
    .digest();
}
