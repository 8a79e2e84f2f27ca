/** What an event makes the console ask again. */
import type { HoldfastEvent } from "@holdfast/client";
import type { Kind } from "../api/keys.ts";

/** By the first word of the event's type. */
const KINDS: Readonly<Record<string, readonly Kind[]>> = {
  document: ["documents", "runs"],
  file: ["documents"],
  folder: ["folders", "documents"],
  batch: ["batches"],
  agent: ["agents"],
  space: ["spaces", "members", "access"],
  member: ["members", "spaces", "access", "me"],
  organization: ["organization", "me"],
  key: ["keys", "access"],
  turn: ["usage"],
  budget: ["usage"],
  webhook: ["webhooks"],
};

/** Of a new kind of event nobody knows what it changes. */
export const kindsOf = ({ type }: HoldfastEvent): readonly Kind[] | "all" =>
  KINDS[type.slice(0, type.indexOf("."))] ?? "all";

/** What an event tells of: a document and its run. Undefined: of things that the kind alone says. */
export function idsOf({ type, resource, data }: HoldfastEvent): readonly string[] | undefined {
  if (!type.startsWith("document.")) return undefined;
  return [resource.id, data["pipeline_run_id"]].filter((id): id is string => typeof id === "string");
}

const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/u;

/** Whether what was asked under this key can have changed: a list, or one of these things. */
export const concerns = ([, of]: readonly unknown[], ids: ReadonlySet<string>): boolean =>
  typeof of !== "string" || !UUID.test(of) || ids.has(of);
