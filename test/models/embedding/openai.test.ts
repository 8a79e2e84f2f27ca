import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createEmbeddingModel, type EmbeddingModel } from "../../../src/models/embedding/embedding-model.ts";
import { createOpenAiEmbeddings } from "../../../src/models/embedding/openai.ts";
import { hashedEmbedding } from "../../support/provider/hashed-embedding.ts";
import {
  type Fault,
  type ScriptedProvider,
  startScriptedProvider,
} from "../../support/provider/scripted-provider.ts";
import { until } from "../../support/until.ts";

let provider: ScriptedProvider;
let model: EmbeddingModel;
beforeEach(async () => {
  provider = await startScriptedProvider();
  model = await createEmbeddingModel({
    baseUrl: provider.url,
    apiKey: "k",
    embeddingModel: "text-embedding-test",
    embeddingDimensions: 384,
  });
});
afterEach(() => provider.close());

const numbers = (vector: Float32Array | null | undefined): number[] =>
  Array.from(vector ?? [], (value) => Math.round(value * 1e5) / 1e5);
const answer = (data: unknown): Fault => ({ status: 200, body: { object: "list", data } });

test("returns the provider's vectors in the order of the texts", async () => {
  const vectors = await model.embed(["one two", "three"], "passage");
  expect(vectors.map(numbers)).toEqual(
    ["one two", "three"].map((text) => numbers(hashedEmbedding(text, 384))),
  );
  expect(provider.requests[0]).toMatchObject({
    body: { model: "text-embedding-test", dimensions: 384 },
    headers: { authorization: "Bearer k" },
  });
});

test("splits by the number of texts", async () => {
  const vectors = await model.embed(
    Array.from({ length: 600 }, (_, index) => `text ${index}`),
    "passage",
  );
  expect(numbers(vectors[599])).toEqual(numbers(hashedEmbedding("text 599", 384)));
  expect(provider.requests.map(({ body }) => body["input"].length)).toEqual([256, 256, 88]);
});

test("takes lists of numbers in any order, scaled to unit length", async () => {
  const data = [
    { index: 1, embedding: [0, 3, ...Array.from({ length: 382 }, () => 4 / Math.sqrt(382))] },
    { index: 0, embedding: [2, ...Array.from({ length: 383 }, () => 0)] },
  ];
  provider.failEmbeddings(answer(data), 1);
  const [first, second] = await model.embed(["a", "b"], "passage");
  expect(first?.[0]).toBe(1);
  expect(second?.[1]).toBeCloseTo(0.6, 5);
});

test("asks the provider for its dimensions where nothing says them", async () => {
  const unknown = await createEmbeddingModel({ baseUrl: provider.url, embeddingModel: "some-model" });
  expect(unknown.dimensions).toBe(384);
  expect(provider.requests.at(-1)?.body).not.toHaveProperty("dimensions");
});

test.each<[string, Fault, object]>([
  [
    "429 with seconds",
    { status: 429, headers: { "retry-after": "7" } },
    { code: "provider_rate_limited", retryAfterSeconds: 7 },
  ],
  [
    "429 with milliseconds",
    { status: 429, headers: { "retry-after-ms": "1500", "retry-after": "9" } },
    { code: "provider_rate_limited", retryAfterSeconds: 1.5 },
  ],
  ["429 without", { status: 429 }, { code: "provider_rate_limited", retryAfterSeconds: undefined }],
  ["408", { status: 408 }, { code: "provider_timeout" }],
  ["500", { status: 500 }, { code: "provider_unavailable" }],
  [
    "503 with Retry-After",
    { status: 503, headers: { "retry-after": "2" } },
    { code: "provider_unavailable", retryAfterSeconds: 2 },
  ],
  ["wrong credentials", { status: 401 }, { code: "provider_unavailable" }],
  ["a refused text", { status: 400 }, { code: "rejected_by_provider" }],
  ["an unknown model", { status: 404 }, { code: "rejected_by_provider" }],
  ["no JSON", { garbage: true }, { code: "provider_unavailable" }],
  ["a body of another kind", { status: 200, body: "hello" }, { code: "provider_unavailable" }],
])("%s has its own error, asked once", async (_name, fault, error) => {
  provider.failEmbeddings(fault, 1);
  await expect(model.embed(["text"], "passage")).rejects.toMatchObject({ name: "DomainError", ...error });
  expect(provider.counts.embeddings).toBe(1);
});

test.each<[string, unknown[]]>([
  ["too few vectors", []],
  ["a vector of another length", [{ index: 0, embedding: [1, 2] }]],
  ["numbers that are none", [{ index: 0, embedding: Array.from({ length: 384 }, () => null) }]],
  ["a vector without direction", [{ index: 0, embedding: Array.from({ length: 384 }, () => 0) }]],
  ["infinite numbers", [{ index: 0, embedding: Array.from({ length: 384 }, () => 1e39) }]],
  ["base64 of half a number", [{ index: 0, embedding: "AAA=" }]],
  ["neither numbers nor base64", [{ index: 0, embedding: { a: 1 } }]],
  ["no vector at all", [null]],
  ["another text's vector", [{ index: 1, embedding: [1] }]],
])("%s: the text has no vector, asked once", async (_name, data) => {
  provider.failEmbeddings(answer(data), 1);
  expect(await model.embed(["text"], "passage")).toEqual([null]);
  expect(provider.counts.embeddings).toBe(1);
});

test("what is wrong with one vector leaves the others as they are", async () => {
  const vector = Array.from(hashedEmbedding("two", 384));
  const data = [
    { index: 3, embedding: vector },
    { index: 0, embedding: [1] },
    { index: 1, embedding: vector },
    { index: 1, embedding: vector },
  ];
  provider.failEmbeddings(answer(data), 1);
  expect(
    (await model.embed(["short", "doubled", "missing", "two"], "passage")).map((one) => one && numbers(one)),
  ).toEqual([null, null, null, numbers(Float32Array.from(vector))]);
});

test("an error message holds nothing that the provider says", async () => {
  provider.failEmbeddings({
    status: 400,
    body: {
      error: { message: "your text SECRET is bad", code: "SECRET text", type: "invalid_request_error" },
    },
  });
  const error: Error = await model.embed(["SECRET"], "passage").then(
    () => expect.fail("no error"),
    (thrown: Error) => thrown,
  );
  expect(error.message).toBe("The model provider answered 400 (invalid_request_error).");
  expect(error.cause).toBeUndefined();
});

test("a provider that is not there is an outage", async () => {
  await provider.close();
  await expect(model.embed(["text"], "passage")).rejects.toMatchObject({
    code: "provider_unavailable",
    message: "The model provider cannot be reached (ECONNREFUSED).",
  });
});

test("a connection that breaks in mid-answer is an outage", async () => {
  const server = createServer((socket) => {
    socket.once("data", () =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"data":'),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const broken = await createEmbeddingModel({
    baseUrl: `http://127.0.0.1:${port}/v1`,
    embeddingModel: "m",
    embeddingDimensions: 3,
  });
  await expect(broken.embed(["text"], "passage")).rejects.toMatchObject({ code: "provider_unavailable" });
  server.close();
});

test("a provider that does not answer is a time-out", async () => {
  provider.failEmbeddings({ hang: true });
  const hurried = await createOpenAiEmbeddings({ baseUrl: provider.url, embeddingDimensions: 384 }, "m", 100);
  await expect(hurried.embed(["text"], "passage")).rejects.toMatchObject({ code: "provider_timeout" });
});

test("an abort passes through untouched and closes the provider's connection", async () => {
  provider.failEmbeddings({ hang: true });
  const abort = new AbortController();
  const embedding = model.embed(["text"], "passage", abort.signal);
  await until("the request", () => provider.counts.embeddings === 1);
  abort.abort();
  await expect(embedding).rejects.toMatchObject({ name: "AbortError" });
  await until("the provider's notice", () => provider.counts.aborted === 1);
});
