/** A payload's place in Temporal, to which its seal is bound. Runs in the workflow sandbox too. */
import type { Payload } from "@temporalio/common";

/** What a payload is. A `note` is read by people only: summaries, details, memos. */
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
  /** The name of the workflow, activity, signal, query or update; empty if there is none. */
  readonly name: string;
  /** The position among how many arguments, as `1/2`. `0/0` seals that there are none. */
  readonly slot: string;
}

/** Why a payload is refused; for logs and metrics. */
export type Refusal = "unsealed" | "moved" | "damaged" | "key_gone";

/** What a worker's codec found in a payload. */
export type Opened =
  | { readonly form: "bound"; readonly place: Place }
  | { readonly form: "refused"; readonly refusal: Refusal };

/** The type of the failure for a refused payload; it is never retried. */
export const FORGED = "forged";
export const FORGED_MESSAGE = "A payload was not sealed for this place.";
export const NO_ARGUMENTS = "0/0";
export const ONLY = "1/1";

const PLACE = "holdfast-place";
const OPENED = "holdfast-opened";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Adds the place to the payload's metadata, for the codec that will seal it and authenticate the place. */
export function placed(payload: Payload, place: Place): Payload {
  const { [OPENED]: _opened, ...metadata } = payload.metadata ?? {};
  return { ...payload, metadata: { ...metadata, [PLACE]: encoder.encode(JSON.stringify(place)) } };
}

/** Adds what the codec found to the payload's metadata. */
export function opened(payload: Payload, found: Opened): Payload {
  return { ...payload, metadata: { ...payload.metadata, [OPENED]: encoder.encode(JSON.stringify(found)) } };
}

/** The replacement of a refused payload; no byte of it gets through. */
export function refused(refusal: Refusal): Payload {
  return opened(
    { metadata: { encoding: encoder.encode("json/plain") }, data: encoder.encode("null") },
    { form: "refused", refusal },
  );
}

/** The payload that is sealed if there are no arguments. */
export function noArguments(place: Omit<Place, "slot">): Payload {
  return placed(
    { metadata: { encoding: encoder.encode("json/plain") }, data: encoder.encode("null") },
    { ...place, slot: NO_ARGUMENTS },
  );
}

/** Returns what {@link placed} added, and the payload without it. */
export function takePlace(payload: Payload): {
  readonly place: Place | undefined;
  readonly payload: Payload;
} {
  const { [PLACE]: place, [OPENED]: _opened, ...metadata } = payload.metadata ?? {};
  return { place: place && (JSON.parse(decoder.decode(place)) as Place), payload: { ...payload, metadata } };
}

/** What {@link opened} added. A payload without it did not pass our codec, and counts as unsealed. */
export function openedOf(payload: Payload | null | undefined): Opened {
  const found = payload?.metadata?.[OPENED];
  return found ? (JSON.parse(decoder.decode(found)) as Opened) : { form: "refused", refusal: "unsealed" };
}

/** True if a worker's codec has seen the payload. */
export function isOpened(payload: Payload): boolean {
  return payload.metadata?.[OPENED] !== undefined;
}

/** What a receiver expects; it accepts any of the kinds. */
export interface Expected {
  readonly kinds: readonly PayloadKind[];
  readonly name: string;
}

/** @returns why the payload must not be used here; null if it may be. */
export function refusalOf(found: Opened, { kinds, name }: Expected, slot: string): Refusal | null {
  if (found.form === "refused") return found.refusal;
  const { place } = found;
  return kinds.includes(place.kind) && place.name === name && place.slot === slot ? null : "moved";
}

/**
 * @returns why the arguments must not be used; null if each has its place and none is missing. No payload at
 * all counts as unsealed.
 */
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

/** True for the payload that seals the absence of arguments. */
export function isAbsence(found: Opened): boolean {
  return found.form === "bound" && found.place.slot === NO_ARGUMENTS;
}

export function slotOf(index: number, count: number): string {
  return `${index + 1}/${count}`;
}
