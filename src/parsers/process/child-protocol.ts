/** The messages between the worker and a parser process, and the bounds of one message. */

import type { ErrorReason } from "../../domain/errors.ts";
import { isPackedPlaces } from "../../domain/locations/checked.ts";
import { packedSize } from "../../domain/locations/packed.ts";
import type { PageSizes, PictureRequest } from "../../domain/locations/page-picture.ts";
import type { ParsedDocument, TextUnit } from "../../domain/text-unit.ts";
import type { ParseInput } from "../parser.ts";

/** `page_sizes` and `picture` are tasks of the processes that show pages. */
export type ChildTask =
  | { readonly task: "parse"; readonly maxCharacters?: number | undefined }
  | { readonly task: "page_count" | "page_sizes" }
  | { readonly task: "picture"; readonly picture: PictureRequest };

export type ChildRequest = ChildTask & { readonly input: ParseInput };

/** A process sends `ready` once; then per request `started`, any number of `units`, and a final message. */
export type ChildMessage =
  | { readonly kind: "ready" }
  | { readonly kind: "started" }
  | { readonly kind: "units"; readonly units: readonly TextUnit[] }
  | { readonly kind: "parsed"; readonly document: Omit<ParsedDocument, "units"> }
  | ShortAnswer
  | { readonly kind: "failed"; readonly code: ErrorReason; readonly message: string };

type ShortAnswer =
  | { readonly kind: "page_count"; readonly pages: number | null }
  | { readonly kind: "page_sizes"; readonly sizes: PageSizes }
  | { readonly kind: "picture"; readonly bytes: Uint8Array };

/** `lost`: the process died; one death does not tell whether the document caused it. */
export type ChildOutcome =
  | { readonly kind: "parsed"; readonly document: ParsedDocument }
  | ShortAnswer
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "lost"; readonly started: boolean };

/** Reading such a message takes about 1 ms, so that a long document does not block the event loop. */
const MAX_UNITS_PER_MESSAGE = 500;
const MAX_CHARS_PER_MESSAGE = 128 * 1024;

/** The unit without its places if they are none: a compromised process may send anything. */
export function withCheckedPlaces(unit: TextUnit): TextUnit {
  if (unit.places === undefined || isPackedPlaces(unit.places)) return unit;
  const { places: _none, ...rest } = unit;
  return rest;
}

export function unitSize({ text, places }: TextUnit): number {
  return text.length + packedSize(places);
}

/** The units in one piece for each message; a unit that is longer than a message is a piece by itself. */
export function* unitMessages(units: readonly TextUnit[]): Generator<readonly TextUnit[]> {
  let start = 0;
  let chars = 0;
  for (let at = 0; at < units.length; at++) {
    const unit = units[at];
    const length = unit === undefined ? 0 : unitSize(unit);
    if (at > start && (chars + length > MAX_CHARS_PER_MESSAGE || at - start >= MAX_UNITS_PER_MESSAGE)) {
      yield units.slice(start, at);
      start = at;
      chars = 0;
    }
    chars += length;
  }
  if (start < units.length) yield units.slice(start);
}
