/** The chat model as a reranker, against a provider that is scripted behind its HTTP interface. */
import { analyze, analyzeQuery } from "../../../src/search/text/analyzer.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createChatModel } from "../../../src/models/chat/chat-model.ts";
import {
  type ListwiseRerankers,
  type RankingCall,
  createListwiseRerankers,
} from "../../../src/models/rerank/by-chat-model.ts";
import { type ScriptedProvider, startScriptedProvider } from "../../support/provider/scripted-provider.ts";
import { until } from "../../support/until.ts";

const TEXTS = ["one", "two", "three"];
const TIMEOUT_MS = 400;

let provider: ScriptedProvider;
let rerankers: ListwiseRerankers;
let calls: RankingCall[];
beforeEach(async () => {
  provider = await startScriptedProvider();
  calls = [];
  const model = await createChatModel(
    { baseUrl: provider.url, apiKey: "k", chatModel: "gpt-4o" },
    { analyze, analyzeQuery },
  );
  rerankers = createListwiseRerankers(model, { timeoutMs: TIMEOUT_MS });
});
afterEach(() => provider.close());

const rank = (texts: readonly string[] = TEXTS, signal?: AbortSignal) =>
  rerankers((call) => calls.push(call)).rank("Which?", texts, signal);
const ordered = (...order: number[]) => ({ pieces: [JSON.stringify({ order })] });
const bodies = () => provider.requests.map(({ body }) => body);

test("a text's score is 1 divided by the place that the model gives it", async () => {
  provider.reply(ordered(3, 1, 2));
  expect(await rank()).toEqual([1 / 2, 1 / 3, 1]);
  expect(bodies()).toMatchObject([
    { model: "gpt-4o", temperature: 0, max_tokens: 1_024, response_format: { type: "json_schema" } },
  ]);
  expect(calls).toMatchObject([{ model: "gpt-4o", usage: { completion_tokens: 1 } }]);
});

test("only the first twenty are shown, and the others have no score", async () => {
  provider.reply(ordered(20));
  const scores = await rank(Array.from({ length: 23 }, (_, at) => `text number ${at + 1}.`));
  expect(scores[19]).toBe(1);
  expect(scores[0]).toBe(1 / 2);
  expect(scores.slice(20)).toEqual([null, null, null]);
  const asked = JSON.stringify(bodies());
  expect([asked.includes("text number 20."), asked.includes("text number 21.")]).toEqual([true, false]);
});

test("a single text is not asked about", async () => {
  expect(await rank(["one"])).toEqual([1]);
  expect(provider.counts.chat).toBe(0);
});

test("a model that takes neither a temperature nor a schema is asked plainly, from then on at once", async () => {
  provider.reply({ status: 400 }, ordered(2, 1, 3), ordered(3, 2, 1));
  expect(await rank()).toEqual([1 / 2, 1, 1 / 3]);
  expect(await rank()).toEqual([1 / 3, 1 / 2, 1]);
  expect(bodies().map((body) => ["temperature" in body, "response_format" in body])).toEqual([
    [true, true],
    [false, false],
    [false, false],
  ]);
});

test("what is refused plainly too says nothing of the model", async () => {
  provider.reply({ status: 400 }, { status: 400 }, ordered(1));
  await expect(rank()).rejects.toMatchObject({ code: "rejected_by_provider" });
  await rank();
  expect(bodies().at(-1)).toHaveProperty("response_format");
  expect(calls).toHaveLength(1);
});

test.each([
  ["it is down", { status: 500 }, "provider_unavailable", 0],
  ["it is at its limit", { status: 429 }, "provider_rate_limited", 0],
  ["it cuts the connection", { cut: true as const }, "provider_unavailable", 0],
  ["it hangs", { hang: true as const }, "provider_timeout", 0],
  [
    "it hangs in the middle",
    { pieces: ['{"or'], after: 1, breakWith: "hang" as const },
    "provider_timeout",
    1,
  ],
  ["it answers in words", { pieces: ["The first passage is best."] }, "provider_unavailable", 1],
  ["it refuses", { pieces: ["I cannot help with that."] }, "provider_unavailable", 1],
  ["it says nothing", { pieces: [] }, "provider_unavailable", 1],
  ["it calls a tool", { toolCalls: [{ name: "rank", arguments: "{}" }] }, "provider_unavailable", 1],
  [
    "its stream breaks",
    { pieces: ["{", "}"], after: 1, breakWith: "garbage" as const },
    "provider_unavailable",
    1,
  ],
])("there is no ranking if %s", async (_, reply, code, billed) => {
  provider.replyAlways(reply);
  await expect(rank()).rejects.toMatchObject({ code });
  expect(calls).toHaveLength(billed);
});

test("an answer without an end is left, and its connection closed", async () => {
  provider.reply({ pieces: Array(10_000).fill("word ".repeat(1_000)), delayMsBetweenPieces: 1 });
  await expect(rank()).rejects.toThrow("too long");
  expect(calls).toHaveLength(1);
  expect(calls[0]!.text.length).toBeLessThan(20_000);
  await until("the connection is closed", () => provider.counts.aborted === 1);
});

test("a caller who leaves ends the call", async () => {
  provider.reply({ hang: true });
  const gone = new AbortController();
  const ranked = rank(TEXTS, gone.signal);
  await until("the call", () => provider.counts.chat === 1);
  gone.abort(new Error("The client has left."));
  await expect(ranked).rejects.toThrow("The client has left.");
  await until("the connection is closed", () => provider.counts.aborted === 1);
});
