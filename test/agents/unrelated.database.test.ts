/** What a model is given where even the nearest text is about something else. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { searchKnowledge } from "../../src/agents/knowledge.ts";
import { type FoxSpace, along, createFoxSpace } from "../support/stack/fox-space.ts";

const UNRELATED = 0.4;

let foxes: FoxSpace;
beforeAll(async () => {
  foxes = await createFoxSpace();
});
afterAll(() => foxes.drop());

/** @param axis that of the question's vector; the documents lie along the first ones */
async function given(
  text: string,
  axis: number,
  { neighbours = false, isMeasured = true, fit = 1 } = {},
): Promise<number> {
  const deps = foxes.deps(async () => along(axis));
  const model = {
    ...deps.queryEmbedding.model,
    fusion: { alpha: 0.4, ...(isMeasured ? { unrelated: UNRELATED } : {}) },
    fitOf: () => fit,
  };
  const scope = {
    organization: foxes.target.organization,
    spaces: [{ ...foxes.target.space, role: "viewer" as const, is_private: false }],
    folderIds: null,
  };
  const passages = await searchKnowledge(
    { ...deps, queryEmbedding: { ...deps.queryEmbedding, model } },
    scope as Parameters<typeof searchKnowledge>[1],
    { text, limit: 8, neighbours },
    new AbortController().signal,
  );
  return passages.length;
}

const ELSEWHERE = 7;
const QUESTION = "Which eggs do lazy ducks lay in winter ponds";

test("the built-in model gets nothing that is about something else, though it shares a word", async () => {
  expect(await given(QUESTION, ELSEWHERE)).toBe(0);
});

test.each([
  ["a text is near enough", given.bind(null, QUESTION, 0)],
  ["the question is a name or a code", given.bind(null, "lazy dog", ELSEWHERE)],
  ["the embedding model was not measured", given.bind(null, QUESTION, ELSEWHERE, { isMeasured: false })],
  ["the embedding model does not know the language", given.bind(null, QUESTION, ELSEWHERE, { fit: 0 })],
  ["a provider's model reads", given.bind(null, QUESTION, ELSEWHERE, { neighbours: true })],
])("gives passages where %s", async (_, found) => {
  expect(await found()).toBeGreaterThan(0);
});
