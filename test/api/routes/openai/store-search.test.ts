import { expect, test } from "vitest";
import { searchVectorStore } from "../../../../src/api/routes/openai/store-search.ts";

test("each query of a search counts as a request", () => {
  const { requestsOf } = searchVectorStore;
  expect(requestsOf?.({ query: "one" })).toBe(1);
  expect(requestsOf?.({ query: ["one", "two", "three"] })).toBe(3);
});
