import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createReranker } from "../../src/models/rerank.ts";

let server: Server;
let url: string;
let requests: { authorization: string | undefined; body: any }[];
let answer: { status: number; body: string } | null;

beforeAll(async () => {
  server = createServer((request, response) => {
    let text = "";
    request.on("data", (part) => (text += part));
    request.on("end", () => {
      requests.push({ authorization: request.headers.authorization, body: JSON.parse(text) });
      if (answer !== null) response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/rerank`;
});
beforeEach(() => void (requests = []));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const results = (...scores: (readonly [index: number, score: unknown])[]): typeof answer => ({
  status: 200,
  body: JSON.stringify({ results: scores.map(([index, relevance_score]) => ({ index, relevance_score })) }),
});

test("scores come in the order of the texts, whatever the order of the answer", async () => {
  answer = results([1, 0.9], [0, 0.2]);
  expect(await createReranker({ url, model: "m", apiKey: "secret" }).rank("q", ["a", "b"])).toEqual([0.2, 0.9]);
  expect(requests).toEqual([{ authorization: "Bearer secret", body: { model: "m", query: "q", documents: ["a", "b"], top_n: 2, return_documents: false } }]);
});

test.each([
  ["a score is missing", results([0, 1])],
  ["a score is no number", results([0, 1], [1, "high"])],
  ["nothing is there", { status: 200, body: "{}" }],
  ["it is no JSON", { status: 200, body: "<html>" }],
  ["it failed", { status: 500, body: "{}" }],
])("an answer that cannot be used is an outage: %s", async (_, given) => {
  answer = given;
  await expect(createReranker({ url }).rank("q", ["a", "b"])).rejects.toMatchObject({ code: "provider_unavailable" });
});

test("one that does not answer is left in time, and one that is not there is an outage", async () => {
  answer = null;
  await expect(createReranker({ url, timeoutMs: 50 }).rank("q", ["a"])).rejects.toMatchObject({ code: "provider_timeout" });
  await expect(createReranker({ url: "http://127.0.0.1:1/" }).rank("q", ["a"])).rejects.toMatchObject({ code: "provider_unavailable" });
  const reason = new Error("went away");
  await expect(createReranker({ url }).rank("q", ["a"], AbortSignal.abort(reason))).rejects.toBe(reason);
});
