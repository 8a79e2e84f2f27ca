/** Runs what the guide's pages do in Python, with the client's wheel, and the recipes that need Python. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { demoPlace, indexManual } from "../../support/docs/demo-place.ts";
import { PAGES, type Snippet, snippetsOf } from "../../support/docs/guide-pages.ts";
import { buildClient, guideEnvironment, PACKAGES } from "../../support/docs/python-guide.ts";
import { type Place, runSnippets } from "../../support/docs/run-snippets.ts";
import { differences } from "../../support/docs/shown-output.ts";
import { onSharedStack } from "../../support/stack/shared-stack.ts";

const CACHE = process.env["HOLDFAST_TEST_CACHE_DIR"] ?? "";
/** Long, because the first run on a machine installs the packages. */
const SETUP_MS = 5 * 60_000;

const { stack, tenants } = onSharedStack();
let client: Awaited<ReturnType<typeof buildClient>>;
let home: string;
let place: Place;

beforeAll(async () => {
  client = await buildClient(CACHE);
  home = await mkdtemp(join(tmpdir(), "holdfast-llm-"));
  const demo = await demoPlace({ stack, tenants });
  const env = await guideEnvironment(CACHE, PACKAGES, client.path);
  place = { ...demo, env: { ...demo.env, ...env, LLM_USER_PATH: home } };
}, SETUP_MS);
afterAll(async () => {
  await client.remove();
  await rm(home, { recursive: true, force: true });
});

async function expectAsShown(snippets: readonly Snippet[]): Promise<void> {
  const printed = await runSnippets(snippets, place);
  expect(snippets.flatMap((snippet, at) => differences(snippet, printed[at] ?? ""))).toEqual([]);
}

const setUp = snippetsOf("quick-start", "python").filter(({ heading }) => heading === "Set up");
/** A page of the manual that uses the clients too. */
const EVENTS = "../events";
const pages = [...PAGES, EVENTS]
  .filter((page) => page !== "recipes")
  .flatMap((page) => {
    const snippets = snippetsOf(page, "python");
    return snippets.length === 0 ? [] : [{ page, snippets }];
  });

test.each(pages)("$page", ({ page, snippets }) =>
  expectAsShown(page === "quick-start" ? snippets : [...setUp, ...snippets]),
);

const recipes = (["python", "sh"] as const)
  .flatMap((language) => snippetsOf("recipes", language))
  .filter(({ heading }) => heading !== "LlamaIndex");

test.each(recipes)("the recipe of $heading ($language)", async (recipe) => {
  await indexManual({ stack, tenants });
  await expectAsShown([recipe]);
});
