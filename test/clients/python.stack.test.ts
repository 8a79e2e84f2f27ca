/** Tests a generated Python client of docs/openapi.json against a stack. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { generatePythonClient, runPython } from "../support/clients/python-client.ts";
import { onSharedStack } from "../support/stack/shared-stack.ts";

const CACHE = process.env["HOLDFAST_TEST_CACHE_DIR"] ?? "";
/** Long, because the first run on a machine installs the generator. */
const SETUP_MS = 5 * 60_000;
const GENERATOR = "openapi-python-client==0.29.1";

const { stack, tenants } = onSharedStack();
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-python-"));
  await generatePythonClient(CACHE, GENERATOR, folder);
}, SETUP_MS);
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

test("uploads, searches, lists and is refused as its types say", async () => {
  const seen = await runPython({ cacheDir: CACHE, library: GENERATOR, path: folder }, "generated_client.py", [
    stack.url,
    tenants.keys.editor,
    tenants.spaces.research,
  ]);
  expect(seen).toMatchObject({
    status: "completed",
    models: expect.arrayContaining([tenants.agents.analyst]),
    refused: 401,
  });
  const { document, found } = seen as { document: string; found: string[] };
  expect(found[0]).toBe(document);
});
