/** JSON merge patch. @see https://www.rfc-editor.org/rfc/rfc7396 */

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * `target` with `patch` applied: null removes a key, objects are merged, everything else replaces. Neither
 * argument is changed.
 * @example mergePatch({ a: 1, b: 2 }, { b: null, c: 3 }) // { a: 1, c: 3 }
 */
export function mergePatch(target: JsonObject, patch: JsonObject): Record<string, unknown> {
  // A map, so that a key such as `__proto__` is a key like any other.
  const merged = new Map(Object.entries(target));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, isObject(value) ? mergePatch(asObject(merged.get(key)), value) : value);
  }
  return Object.fromEntries(merged);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
