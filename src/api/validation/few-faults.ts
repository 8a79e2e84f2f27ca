/** Cuts a list after a hundred faulty elements before it is checked: zod makes an issue for each. */
import { z } from "zod";

export const MAX_FAULTS = 100;

export interface Cut {
  /** The value with each of its lists ending after the last fault that is reported. */
  readonly value: unknown;
  readonly isCut: boolean;
}

/**
 * Ends each list after its first {@link MAX_FAULTS} faulty elements. Lists with fewer stay as they are, and
 * so do lists over their schema's maximum, which are one problem as a whole. Never changes `value` itself.
 */
export function cutFaults(schema: z.ZodType, value: unknown): Cut {
  if (typeof value !== "object" || value === null) return { value, isCut: false };
  if (schema instanceof z.ZodObject) return cutFields(schema, value);
  if (schema instanceof z.ZodArray && Array.isArray(value)) return cutList(schema, value);
  // What one option of a choice takes is full of faults for the others.
  if (schema instanceof z.ZodUnion && z.validate(schema, value)) return { value, isCut: false };
  for (const inner of innerOf(schema)) {
    const found = cutFaults(inner, value);
    if (found.isCut) return found;
  }
  return { value, isCut: false };
}

/** The schemas to which this one passes the same value on. */
function innerOf(schema: z.ZodType): readonly z.ZodType[] {
  if (schema instanceof z.ZodUnion) return schema.options as readonly z.ZodType[];
  if (schema instanceof z.ZodPipe) return [schema.in as z.ZodType];
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return [schema.unwrap() as z.ZodType];
  return [];
}

/** Looks at the fields that were sent, as most schemas name far more, and of those at lists and objects. */
function cutFields({ shape }: z.ZodObject, value: object): Cut {
  let changed: Record<string, unknown> | null = null;
  for (const [name, given] of Object.entries(value) as Array<[string, unknown]>) {
    if (typeof given !== "object" || given === null || !Object.hasOwn(shape, name)) continue;
    const found = cutFaults(shape[name] as z.ZodType, given);
    if (!found.isCut) continue;
    changed ??= {};
    changed[name] = found.value;
  }
  return changed === null ? { value, isCut: false } : { value: { ...value, ...changed }, isCut: true };
}

function cutList(schema: z.ZodArray, list: readonly unknown[]): Cut {
  const element = schema.element as z.ZodType;
  if (list.length > maxOf(schema)) return { value: list, isCut: false };
  if (list.length > MAX_FAULTS) {
    let faults = 0;
    const end = list.findIndex((item) => {
      faults += z.validate(element, item) ? 0 : 1;
      return faults > MAX_FAULTS;
    });
    return end < 0 ? { value: list, isCut: false } : { value: list.slice(0, end), isCut: true };
  }
  const items = list.map((item) => cutFaults(element, item));
  const isCut = items.some((item) => item.isCut);
  return { value: isCut ? items.map((item) => item.value) : list, isCut };
}

function maxOf(schema: z.ZodArray): number {
  const limits = (schema.def.checks ?? []).map(({ _zod: { def } }) =>
    "maximum" in def && def.check === "max_length" ? Number(def.maximum) : Infinity,
  );
  return Math.min(Infinity, ...limits);
}
