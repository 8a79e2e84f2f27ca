/** The patterns of the OpenAPI document mean the same as the checks that they describe. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { createOpenApi } from "../../../src/api/openapi.ts";
import { API_ROUTES } from "../../../src/api/routes/index.ts";
import { parsePart } from "../../../src/api/validation/validate.ts";
import { DocumentSearch } from "../../../src/schema/documents/document.ts";
import { FolderCreate } from "../../../src/schema/documents/folder.ts";
import {
  PathFolderCreate,
  RawFileAddress,
  RawFileRename,
  UploadFolderPath,
} from "../../../src/schema/documents/raw-file.ts";
import { HybridSearch } from "../../../src/schema/documents/search.ts";
import { SpaceCreate } from "../../../src/schema/space.ts";

const document = createOpenApi(API_ROUTES) as any;
const schemas = document.components.schemas;
const properties = (name: string) => schemas[name].properties;
const SPACE = "01900000-0000-7000-8000-000000000010";

/** Short texts of what matters to the checks. */
const nearly = fc
  .array(
    fc.constantFrom(
      ..."a . .. / \\ - _ __ doc_metadata. processing_state. id name space_id created_at exact in isnull".split(
        " ",
      ),
      " ",
      "\t",
      "\n",
      "\u0085",
      "\u001c",
      "\u00a0",
      "\u3000",
      "\ufeff",
      "é",
      "😀",
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(""));

interface Check {
  readonly pattern: string;
  /** Whether a request with this text is accepted. */
  readonly accepts: (text: string) => boolean;
}

const accepts = (schema: z.ZodType, value: unknown): boolean =>
  !("problems" in parsePart(schema, value, "body"));
const first = (schema: any) => schema.anyOf?.[0] ?? schema;
const search = (of: string) => first(properties("DocumentSearch")[of]);

const CHECKS: Readonly<Record<string, Check>> = {
  "a name": {
    pattern: properties("SpaceCreate").name.pattern,
    accepts: (name) => accepts(SpaceCreate, { name }),
  },
  "the name of a folder": {
    pattern: properties("FolderCreate").name.pattern,
    accepts: (name) => accepts(FolderCreate, { name, space_id: SPACE }),
  },
  "a query": {
    pattern: properties("HybridSearch").query.pattern,
    accepts: (query) => accepts(HybridSearch, { query, space_id: SPACE }),
  },
  "the folder of an upload": {
    pattern: properties("RawFileUpload").path.pattern,
    accepts: (path) => accepts(z.object({ path: UploadFolderPath }), { path }),
  },
  "the path of a folder": {
    pattern: properties("PathFolderCreate").path.pattern,
    accepts: (path) => accepts(PathFolderCreate, { path }),
  },
  "the path of a file": {
    pattern: document.components.parameters.path.schema.pattern,
    accepts: (path) => accepts(RawFileAddress, { path }),
  },
  "a path that is renamed": {
    pattern: properties("RawFileRename").old_path.pattern,
    accepts: (path) => accepts(RawFileRename, { old_path: path, new_path: path.endsWith("/") ? "b/" : "b" }),
  },
  "an element of order_by": {
    pattern: search("order_by").items.pattern,
    accepts: (term) => accepts(DocumentSearch, { order_by: [term] }),
  },
  "a key of filters": {
    pattern: search("filters").propertyNames.pattern,
    // The key is what is judged, not its value.
    accepts: (key) => VALUES.some((value) => accepts(DocumentSearch, { filters: { [key]: value } })),
  },
};
const VALUES = ["text", SPACE, 1, true, "2026-01-31", ["text"], [SPACE], [1], [true], ["2026-01-31"]];

test.each(Object.entries(CHECKS))("of %s", (_name, check) => {
  const pattern = new RegExp(check.pattern, "u");
  fc.assert(
    fc.property(nearly, (text) => {
      expect(pattern.test(text)).toBe(check.accepts(text));
    }),
    { numRuns: 2_000 },
  );
});

test.each(["", ".", "..", "a//b", "/a", "a/", "a/../b", "a\\b", "...", "a/.b", ".a", "..a"])(
  "of the path %j",
  (path) => {
    const { pattern, accepts: isAccepted } = CHECKS["the path of a file"]!;
    expect(new RegExp(pattern, "u").test(path)).toBe(isAccepted(path));
  },
);

test("a text that nothing else narrows has no NUL, but where leaked keys are reported", () => {
  expect(properties("AgentCreate").description.pattern).toBe("^[^\\u0000]*$");
  expect(properties("LeakedKeysReport").keys.items.pattern).toBe("^[\\s\\S]*$");
});
