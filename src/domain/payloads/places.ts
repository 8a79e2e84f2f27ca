/** Where a payload of Temporal belongs: what its seal says of it, and how codec, converters and workflows tell one another. Runs in the workflow sandbox too. */
import type { Payload } from "@temporalio/common";

/** What a payload is. A `note` is what people read alone: summaries, details, memos. */
export type PayloadKind =
  | "input"
  | "child"
  | "result"
  | "signal"
  | "update"
  | "update-result"
  | "query"
  | "query-result"
  | "activity-input"
  | "activity-result"
  | "local-activity-input"
  | "local-activity-result"
  | "heartbeat"
  | "failure"
  | "note";

export interface Place {
  readonly kind: PayloadKind;
  /** Of the workflow, activity, signal, query or update; empty where there is none. */
  readonly name: string;
  /** Which of how many, as `1/2`; `0/0` stands for no arguments at all, so that their absence is sealed too. */
  readonly slot: string;
  /** Milliseconds since 1970: the workflow that sealed it began then with nothing sealed of its own. */
  readonly unsealedSince?: number | undefined;
}

/** Why a payload is refused; for logs and metrics. */
export type Refusal = "unsealed" | "moved" | "damaged" | "key_gone" | "old_form";

/** What a worker's codec found. */
export type Opened =
  | { readonly form: "bound"; readonly place: Place }
  /** The form of version 0.3.0, which names the organization alone. Good for what began before `until` (milliseconds since 1970); null: always. */
  | { readonly form: "old"; readonly until: number | null }
  | { readonly form: "refused"; readonly refusal: Refusal };

/** The type of failures of what was refused; nothing that fails so is tried again. */
export const FORGED = "forged";
export const FORGED_MESSAGE = "A payload was not sealed for this place.";
export const NO_ARGUMENTS = "0/0";
export const ONLY = "1/1";

/** The only workflow that older versions start without any arguments. */
export const BARE_WORKFLOWS: ReadonlySet<string> = new Set(["indexUpkeep"]);

const PLACE = "holdfast-place";
const OPENED = "holdfast-opened";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The payload with a note for the codec that will seal it: inside the seal, what is here becomes authenticated. */
export function placed(payload: Payload, place: Place): Payload {
  const { [OPENED]: _opened, ...metadata } = payload.metadata ?? {};
  return { ...payload, metadata: { ...metadata, [PLACE]: encoder.encode(JSON.stringify(place)) } };
}

/** The payload with what the codec found of it. */
export function opened(payload: Payload, found: Opened): Payload {
  return { ...payload, metadata: { ...payload.metadata, [OPENED]: encoder.encode(JSON.stringify(found)) } };
}

/** What takes the place of a payload that was refused: no byte of it goes on. */
export function refused(refusal: Refusal): Payload {
  return opened(
    { metadata: { encoding: encoder.encode("json/plain") }, data: encoder.encode("null") },
    { form: "refused", refusal },
  );
}

/** What is sealed where there are no arguments. */
export function noArguments(place: Omit<Place, "slot">): Payload {
  return placed(
    { metadata: { encoding: encoder.encode("json/plain") }, data: encoder.encode("null") },
    { ...place, slot: NO_ARGUMENTS },
  );
}

/** What {@link placed} noted, and the payload without any note. */
export function takePlace(payload: Payload): {
  readonly place: Place | undefined;
  readonly payload: Payload;
} {
  const { [PLACE]: place, [OPENED]: _opened, ...metadata } = payload.metadata ?? {};
  return { place: place && (JSON.parse(decoder.decode(place)) as Place), payload: { ...payload, metadata } };
}

/** What {@link opened} noted; a payload that passed no codec of ours is not sealed. */
export function openedOf(payload: Payload | null | undefined): Opened {
  const found = payload?.metadata?.[OPENED];
  return found ? (JSON.parse(decoder.decode(found)) as Opened) : { form: "refused", refusal: "unsealed" };
}

/** True where a codec of a worker has noted anything. */
export function isOpened(payload: Payload): boolean {
  return payload.metadata?.[OPENED] !== undefined;
}

/** What a receiver expects; several kinds, if any of them will do. */
export interface Expected {
  readonly kinds: readonly PayloadKind[];
  readonly name: string;
  /** Milliseconds since 1970 at which the workflow began, or the activity was scheduled. */
  readonly begunAt: number;
}

/** @returns why the payload may not be used there; null if it may. */
export function refusalOf(found: Opened, { kinds, name, begunAt }: Expected, slot: string): Refusal | null {
  if (found.form === "refused") return found.refusal;
  if (found.form === "old") return found.until === null || begunAt < found.until ? null : "old_form";
  const { place } = found;
  return kinds.includes(place.kind) && place.name === name && place.slot === slot ? null : "moved";
}

/** @returns why the arguments may not be used; null if each is in its place and none is missing. Needs at least one. */
export function refusalOfAll(found: readonly Opened[], expected: Expected): Refusal | null {
  const [first] = found;
  if (first === undefined) return "unsealed";
  if (found.length === 1 && isAbsence(first)) return refusalOf(first, expected, NO_ARGUMENTS);
  for (const [index, one] of found.entries()) {
    const refusal = refusalOf(one, expected, slotOf(index, found.length));
    if (refusal !== null) return refusal;
  }
  return null;
}

/** True of the one payload that is sealed where there are no arguments. */
export function isAbsence(found: Opened): boolean {
  return found.form === "bound" && found.place.slot === NO_ARGUMENTS;
}

export function slotOf(index: number, count: number): string {
  return `${index + 1}/${count}`;
}
