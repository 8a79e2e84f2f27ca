/** Runs the recipe of LlamaIndex, whose packages are many. */
import { beforeAll, expect, test } from "vitest";
import { demoPlace, indexManual } from "../../support/docs/demo-place.ts";
import { snippetsOf } from "../../support/docs/guide-pages.ts";
import { guideEnvironment, LLAMA_INDEX } from "../../support/docs/python-guide.ts";
import { type Place, runSnippets } from "../../support/docs/run-snippets.ts";
import { differences } from "../../support/docs/shown-output.ts";
import { onSharedStack } from "../../support/stack/shared-stack.ts";

const CACHE = process.env["HOLDFAST_TEST_CACHE_DIR"] ?? "";
/** Long, because the first run on a machine installs the packages. */
const SETUP_MS = 5 * 60_000;

const { stack, tenants } = onSharedStack();
let place: Place;

beforeAll(async () => {
  const demo = await demoPlace({ stack, tenants });
  place = { ...demo, env: { ...demo.env, ...(await guideEnvironment(CACHE, LLAMA_INDEX)) } };
  await indexManual({ stack, tenants });
}, SETUP_MS);

test("the recipe of LlamaIndex answers with its sources", async () => {
  const [recipe] = snippetsOf("recipes", "python").filter(({ heading }) => heading === "LlamaIndex");
  const [printed = ""] = await runSnippets([recipe!], place);
  expect(recipe!.outputs).toHaveLength(1);
  expect(differences(recipe!, printed)).toEqual([]);
});
