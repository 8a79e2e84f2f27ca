/** Mends the references of the OpenAPI document. */

/**
 * Removes `additionalProperties: false` beside a reference: it would forbid all that the schema behind the
 * reference names. Zod adds it where a schema that has a name is described anew.
 */
export function mendReferences(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  if ("$ref" in node && "additionalProperties" in node) delete node.additionalProperties;
  for (const inner of Object.values(node)) mendReferences(inner);
}
