/** Values for Temporal's converter outside of the sandbox, with the place of their seal. */
import { isUuid } from "../ids.ts";
import { NO_ARGUMENTS, type Opened, type Place, slotOf } from "./places.ts";

// Global symbols, because Temporal loads the converter by its path and may get another copy of this module.
// JSON cannot contain them.
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

/** What the codec found in an argument. An argument that did not pass our codec counts as unsealed. */
export function openedOfValue(value: unknown): Opened {
  const found =
    typeof value === "object" && value !== null ? (value as Partial<OpenedValue>)[OPENED] : undefined;
  return found ?? { form: "refused", refusal: "unsealed" };
}

/** The id of the organization that the first argument of an activity names; null if it names none. */
export function organizationIn(args: readonly unknown[]): string | null {
  const { value } = (args[0] ?? {}) as { readonly value?: { organization?: { id?: unknown } } | null };
  const id = value?.organization?.id;
  return typeof id === "string" && isUuid(id) ? id : null;
}

/** The arguments with their places. If there are none, one value that says so. */
export function placedArguments(values: readonly unknown[], place: Omit<Place, "slot">): unknown[] {
  if (values.length === 0) return [placedValue(null, { ...place, slot: NO_ARGUMENTS })];
  return values.map((value, index) => placedValue(value, { ...place, slot: slotOf(index, values.length) }));
}
