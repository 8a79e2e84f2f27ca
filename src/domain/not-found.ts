/** The error for what does not exist, or is out of the caller's reach: callers cannot tell which. */
import { DomainError } from "./errors.ts";

const NAMES = {
  agent: "Agent",
  api_key: "API key",
  batch: "Batch",
  chunk: "Chunk",
  delivery: "Delivery",
  document: "Document",
  event: "Event",
  file: "File",
  folder: "Folder",
  organization: "Organization",
  page: "Page",
  response: "Response",
  run: "Run",
  space: "Space",
  user: "User",
  vector_store: "Vector store",
  version: "Version",
  webhook: "Webhook",
} as const;

/** What a path or a body may name. */
export type ResourceKind = keyof typeof NAMES;

export const isResourceKind = (name: string): name is ResourceKind => Object.hasOwn(NAMES, name);

export const missingMessage = (kind: ResourceKind): string => `${NAMES[kind]} not found`;

export function notFound(kind: ResourceKind): DomainError {
  return new DomainError(`${kind}_not_found`, missingMessage(kind));
}

/** The error for a version whose file was there. */
export function versionNotKept(version: number): DomainError {
  return new DomainError("version_not_kept", `The file of version ${version} is no longer kept.`);
}
