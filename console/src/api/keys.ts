/**
 * The keys of what the console has asked: the first word is the kind of thing, by which the events of the
 * service make it ask again.
 */
export type Kind =
  | "me"
  | "spaces"
  | "members"
  | "folders"
  | "documents"
  /** Searches, which are asked by people alone: an import by somebody else must not repeat them. */
  | "answers"
  | "runs"
  | "batches"
  | "agents"
  | "keys"
  | "access"
  | "organization"
  | "usage"
  | "audit"
  | "webhooks"
  | "operations";

type Part = string | number | boolean | null | undefined | { readonly [key: string]: unknown };

/** @example keyOf("documents", spaceId, { status }) */
export const keyOf = (kind: Kind, ...rest: readonly Part[]): readonly [Kind, ...Part[]] => [kind, ...rest];
