/** Runs what the guide's pages do in TypeScript, in Node, with the client's sources. */
import { beforeAll, expect, test } from "vitest";
import { PAGES, snippetsOf } from "../../support/docs/guide-pages.ts";
import { demoPlace, indexManual } from "../../support/docs/demo-place.ts";
import { type Place, runSnippets } from "../../support/docs/run-snippets.ts";
import { differences } from "../../support/docs/shown-output.ts";
import { onSharedStack } from "../../support/stack/shared-stack.ts";

const { stack, tenants } = onSharedStack();
let place: Place;
beforeAll(async () => {
  place = await demoPlace({ stack, tenants });
});

const setUp = snippetsOf("quick-start", "ts").filter(({ heading }) => heading === "Set up");
/** A page of the manual that uses the clients too. */
const EVENTS = "../events";
const pages = [...PAGES, EVENTS]
  .filter((page) => page !== "recipes")
  .flatMap((page) => {
    const snippets = snippetsOf(page, "ts");
    return snippets.length === 0 ? [] : [{ page, snippets }];
  });

test.each(pages)("$page", async ({ page, snippets }) => {
  const all = page === "quick-start" ? snippets : [...setUp, ...snippets];
  const printed = await runSnippets(all, place);
  expect(all.flatMap((snippet, at) => differences(snippet, printed[at] ?? ""))).toEqual([]);
});

test.each(snippetsOf("recipes", "ts"))("the recipe of $heading", async (recipe) => {
  await indexManual({ stack, tenants });
  const [printed = ""] = await runSnippets([recipe], place);
  expect(recipe.outputs).toHaveLength(1);
  expect(differences(recipe, printed)).toEqual([]);
});
