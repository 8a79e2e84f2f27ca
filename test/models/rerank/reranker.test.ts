import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createReranker } from "../../../src/models/rerank/reranker.ts";

let server: Server;
let url: string;
let requests: { authorization: string | undefined; body: any }[];
type Given = { status: number; body: string } | null;
let answer: Given | ((documents: readonly string[]) => Given);

beforeAll(async () => {
  server = createServer((request, response) => {
    let text = "";
    request.on("data", (part) => (text += part));
    request.on("end", () => {
      requests.push({ authorization: request.headers.authorization, body: JSON.parse(text) });
      const given = typeof answer === "function" ? answer(JSON.parse(text).documents) : answer;
      if (given !== null)
        response.writeHead(given.status, { "content-type": "application/json" }).end(given.body);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/rerank`;
});
beforeEach(() => {
  requests = [];
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const results = (...scores: (readonly [index: number, score: unknown])[]): Given => ({
  status: 200,
  body: JSON.stringify({ results: scores.map(([index, relevance_score]) => ({ index, relevance_score })) }),
});

test("scores come in the order of the texts, whatever the order of the answer", async () => {
  answer = results([1, 0.9], [0, 0.2]);
  expect(await createReranker({ url, model: "m", apiKey: "secret" }).rank("q", ["a", "b"])).toEqual([
    0.2, 0.9,
  ]);
  expect(requests).toEqual([
    {
      authorization: "Bearer secret",
      body: { model: "m", query: "q", documents: ["a", "b"], top_n: 2, return_documents: false },
    },
  ]);
});

test.each([
  ["no score is there", results()],
  ["no score is a number", results([0, null], [1, "high"])],
  ["everything is refused", { status: 400, body: "{}" }],
  ["nothing is there", { status: 200, body: "{}" }],
  ["it is no JSON", { status: 200, body: "<html>" }],
  ["it failed", { status: 500, body: "{}" }],
])("an answer that cannot be used is an outage: %s", async (_, given) => {
  answer = given;
  await expect(createReranker({ url }).rank("q", ["a", "b"])).rejects.toMatchObject({
    code: "provider_unavailable",
  });
});

test("one that does not answer is left in time, and one that is not there is an outage", async () => {
  answer = null;
  await expect(createReranker({ url, timeoutMs: 50 }).rank("q", ["a"])).rejects.toMatchObject({
    code: "provider_timeout",
  });
  await expect(createReranker({ url: "http://127.0.0.1:1/" }).rank("q", ["a"])).rejects.toMatchObject({
    code: "provider_unavailable",
  });
  const reason = new Error("went away");
  await expect(createReranker({ url }).rank("q", ["a"], AbortSignal.abort(reason))).rejects.toBe(reason);
});

const documents = (count: number): string[] => Array.from({ length: count }, (_, index) => `text ${index}`);
/** A provider that scores each text by its number. A poisonous text refuses its request, or has no score. */
const poisoned =
  (isPoison: (text: string) => boolean, how: "refused" | "unscored") =>
  (given: readonly string[]): Given => {
    if (how === "refused" && given.some(isPoison)) return { status: 422, body: "{}" };
    return results(
      ...given.flatMap((text, index) =>
        isPoison(text) ? [] : [[index, Number(text.split(" ")[1])] as const],
      ),
    );
  };

test.each(["refused", "unscored"] as const)(
  "one text of fifty that is %s has no score, and the others have theirs",
  async (how) => {
    const expected = documents(50).map((_, index) => (index === 33 ? null : index));
    const score = poisoned((text) => text === "text 33", how);
    answer = (given) => (given[0]?.startsWith("text") ? score(given) : results([0, 0.5]));
    expect(await createReranker({ url }).rank("q", documents(50))).toEqual(expected);
    expect(requests.length).toBeLessThanOrEqual(16);
  },
);

test("a text that is refused alone is refused by a text that is known to work", async () => {
  answer = (given) => (given[0] === "bad" ? { status: 400, body: "{}" } : results([0, 0.5]));
  expect(await createReranker({ url }).rank("q", ["bad"])).toEqual([null]);
  expect(requests).toHaveLength(2);
});

test("where it refuses everything that is known after two requests", async () => {
  answer = { status: 413, body: "{}" };
  await expect(createReranker({ url }).rank("q", documents(50))).rejects.toMatchObject({
    code: "provider_unavailable",
  });
  expect(requests).toHaveLength(2);
});

test("many refused texts cost a bounded number of requests", async () => {
  answer = (given) =>
    given[0]?.startsWith("text")
      ? poisoned((text) => Number(text.split(" ")[1]) % 2 === 0, "refused")(given)
      : results([0, 0.5]);
  const scores = await createReranker({ url }).rank("q", documents(50));
  expect(scores).toHaveLength(50);
  expect(requests.length).toBeLessThanOrEqual(17);
});
