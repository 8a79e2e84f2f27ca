/** Requests of clients that read a resource, change it and send all of it back. */
import { z } from "zod";

/**
 * `schema`, which refuses unknown members, but passes over those members of the resource that it does not
 * take: they are sent back as they were read, and no misspelled name is one of them.
 */
export function writtenBack<S extends z.ZodObject>(resource: z.ZodObject, schema: S) {
  const readOnly = Object.keys(resource.shape).filter((name) => !Object.hasOwn(schema.shape, name));
  return z.preprocess((given) => {
    if (typeof given !== "object" || given === null || Array.isArray(given)) return given;
    return Object.fromEntries(Object.entries(given).filter(([name]) => !readOnly.includes(name)));
  }, schema);
}
