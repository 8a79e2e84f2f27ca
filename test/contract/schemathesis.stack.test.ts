/**
 * Schemathesis, which other people test APIs with, finds nothing that the OpenAPI document does not say. The
 * nightly run does this with access tokens too, with more requests and other seeds.
 */
import { expect, test } from "vitest";
import { runSchemathesis } from "../support/clients/schemathesis.ts";
import { contractStack } from "../support/stack/contract-stack.ts";

const CACHE = process.env["HOLDFAST_TEST_CACHE_DIR"] ?? "";
const SEED = 20;
/** Long, because the first run on a machine installs it. */
const LIMIT_MS = 8 * 60_000;

const stack = contractStack();

test("an API key gets only answers that the document describes", { timeout: LIMIT_MS }, async () => {
  const result = await runSchemathesis({
    cacheDir: CACHE,
    url: stack.url,
    token: stack.credentials.owner,
    ids: stack.ids,
    seed: SEED,
    maxExamples: 1,
    // The bounds of each field, which its coverage phase tries, take minutes.
    phases: ["examples", "fuzzing"],
    timeoutMs: LIMIT_MS,
  });
  process.stdout.write(`${result.summary}\nstatuses ${JSON.stringify(result.statuses)}\n`);
  expect(result.isClean ? "" : result.output).toBe("");
});
