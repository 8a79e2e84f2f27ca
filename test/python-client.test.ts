/** The Python client that a generator makes of docs/openapi.json, against a stack. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { generatePythonClient, runPython } from "./support/python-client.ts";
import { type Stack, startStack } from "./support/stack.ts";
import { AGENTS, KEYS, SPACES } from "./support/tenants.ts";

const CACHE = process.env["HOLDFAST_TEST_CACHE_DIR"] ?? "";
/** The first time on a machine the generator is installed. */
const SETUP_MS = 5 * 60_000;
const GENERATOR = "openapi-python-client==0.29.1";

let stack: Stack;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-python-"));
  [stack] = await Promise.all([startStack(), generatePythonClient(CACHE, GENERATOR, folder)]);
}, SETUP_MS);
afterAll(async () => {
  await stack.close();
  await rm(folder, { recursive: true, force: true });
});

test("uploads, searches, lists and is refused as its types say", async () => {
  const seen = await runPython({ cacheDir: CACHE, library: GENERATOR, path: folder }, "generated_client.py", [stack.url, KEYS.editor, SPACES.research]);
  expect(seen).toMatchObject({ status: "completed", models: expect.arrayContaining([AGENTS.analyst]), refused: 401 });
  const { document, found } = seen as { document: string; found: string[] };
  expect(found[0]).toBe(document);
});
