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
