/** Reads rendered manifests, and validates each object against the published schema of its kind. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv, type ValidateFunction } from "ajv";
import { parseAllDocuments } from "yaml";

const SCHEMAS = join(import.meta.dirname, "schemas");

// oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of any manifest
export type Manifest = Record<string, any>;

/** @throws Error if a document is not YAML, or has a key twice */
export function readManifests(text: string): Manifest[] {
  return parseAllDocuments(text, { uniqueKeys: true }).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0]!;
    const value = document.toJS() as Manifest | null;
    return value === null ? [] : [value];
  });
}

/**
 * @returns a function that lists the faults of an object: a kind without a schema, a field that its kind does
 * not have, a wrong type
 */
export async function createValidator(): Promise<(manifest: Manifest) => string[]> {
  const validators = new Map<string, ValidateFunction>();
  for (const name of ["kubernetes-1.29.json", "custom-resources.json"]) {
    const { kinds, $defs } = JSON.parse(await readFile(join(SCHEMAS, name), "utf8")) as {
      kinds: Record<string, string>;
      $defs: object;
    };
    const ajv = new Ajv({ allErrors: true, strict: false });
    ajv.addSchema({ $id: name, $defs });
    for (const [kind, definition] of Object.entries(kinds))
      validators.set(kind, ajv.compile({ $ref: `${name}#/$defs/${definition}` }));
  }
  return (manifest) => {
    const kind = `${manifest["apiVersion"]}/${manifest["kind"]}`;
    const validate = validators.get(kind);
    if (validate === undefined) return [`${kind}: no schema in ${SCHEMAS}`];
    const name = String(manifest["metadata"]?.name);
    if (validate(manifest)) return [];
    return validate.errors!.map(
      ({ instancePath, message, params }) =>
        `${kind} ${name}: ${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  };
}
