/** Values on their way through Temporal's payload converter outside of the sandbox: with the place that they are to be sealed for, or that they were. */
import { NO_ARGUMENTS, type Opened, type Place, slotOf } from "./places.ts";

// Symbols of the process, because Temporal loads the converter by its path: perhaps another copy of this module. No JSON has them.
const PLACED = Symbol.for("holdfast.placed");
const OPENED = Symbol.for("holdfast.opened");

export interface PlacedValue {
  readonly [PLACED]: Place;
  readonly value: unknown;
}

export interface OpenedValue {
  readonly [OPENED]: Opened;
  readonly value: unknown;
}

export function placedValue(value: unknown, place: Place): PlacedValue {
  return { [PLACED]: place, value };
}

export function openedValue(value: unknown, found: Opened): OpenedValue {
  return { [OPENED]: found, value };
}

export function placeOfValue(value: unknown): Place | undefined {
  return typeof value === "object" && value !== null ? (value as Partial<PlacedValue>)[PLACED] : undefined;
}

/** What the codec found of an argument; an argument that passed no codec of ours is not sealed. */
export function openedOfValue(value: unknown): Opened {
  const found =
    typeof value === "object" && value !== null ? (value as Partial<OpenedValue>)[OPENED] : undefined;
  return found ?? { form: "refused", refusal: "unsealed" };
}

/** The arguments with their places; where there are none, one that says so. */
export function placedArguments(values: readonly unknown[], place: Omit<Place, "slot">): unknown[] {
  if (values.length === 0) return [placedValue(null, { ...place, slot: NO_ARGUMENTS })];
  return values.map((value, index) => placedValue(value, { ...place, slot: slotOf(index, values.length) }));
}
