/** @see https://www.rfc-editor.org/rfc/rfc7396 */

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The merge patch that makes `wanted` of `before`: what is not there any more is null, in objects too. */
export function mergePatchOf(before: JsonObject, wanted: JsonObject): Record<string, unknown> {
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(wanted, key));
  return Object.fromEntries([
    ...removed.map((key) => [key, null] as const),
    ...Object.entries(wanted).map(([key, value]) => {
      const old = before[key];
      return [key, isObject(value) && isObject(old) ? mergePatchOf(old, value) : value] as const;
    }),
  ]);
}
