/**
 * Traces on the real stack: each request has one, through workflows and activities down to SQL, store and
 * provider, and none contains content.
 */
import { afterAll, expect, test } from "vitest";
import { call, ended, fileForm } from "../support/clients/client.ts";
import { type CollectedSpan, type Collector, startCollector } from "../support/servers/collector.ts";
import { onKillableStack } from "../support/stack/shared-stack.ts";
import { until } from "../support/until.ts";

let collector: Collector;
const { stack, tenants } = onKillableStack({
  env: async () => {
    collector = await startCollector();
    return { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  },
});

afterAll(() => collector.close());

const SENTENCE = "Eisvögel brüten an steilen Ufern.";
const QUESTION = "Wo brüten die Eisvögel eigentlich?";
const ANSWER = "Offenbar-an-Ufern";

/** A trace that a caller has started; its id repeats `letter`. */
const begun = (letter: string): { traceId: string; spanId: string; headers: Record<string, string> } => {
  const [traceId, spanId] = [letter.repeat(32), letter.repeat(16)];
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-01` } };
};

/** Returns the spans of the trace after all wanted ones have arrived, and no parent is still missing. */
async function traceOf(
  begun: { traceId: string; spanId: string },
  wanted: readonly string[],
): Promise<CollectedSpan[]> {
  let left: string[] = [];
  const look = (): CollectedSpan[] | false => {
    const spans = collector.spans.filter((span) => span.traceId === begun.traceId);
    left = [
      ...wanted.filter((name) => !spans.some((span) => span.name === name)),
      ...loose(spans, begun.spanId).map((name) => `the parent of ${name}`),
    ];
    return left.length === 0 && spans;
  };
  try {
    return await until("the trace is connected and whole", look, 45_000);
  } catch (error) {
    throw new Error(`It lacks ${left.join(", ")}.`, { cause: error });
  }
}

/** Lists spans whose parent is neither among them nor `root`. */
const loose = (spans: readonly CollectedSpan[], root: string): string[] => {
  const ids = new Set([root, ...spans.map((span) => span.spanId)]);
  return spans.filter((span) => !ids.has(span.parentSpanId)).map((span) => span.name);
};

test("one upload is one connected trace, from the request to database, store and provider", async () => {
  const { traceId, spanId, headers } = begun("a");
  const answer = await call(
    stack.url,
    tenants.keys.editor,
    "POST",
    "/data/upload",
    fileForm(`${SENTENCE}\n`, "eisvogel-geheim.md", { space_id: tenants.spaces.research }),
    headers,
  );
  expect(answer.status).toBe(201);
  await ended(stack.url, tenants.keys.editor, answer.body.id);
  const activities = ["activity prepareDocuments", "activity embedAndPublish"];
  const stages = ["pipeline parse", "pipeline chunk", "pipeline write", "pipeline embed", "pipeline publish"];
  const spans = await traceOf({ traceId, spanId }, [
    "POST /v1/data/upload",
    "store put",
    "start documentPipeline",
    "workflow documentPipeline",
    ...activities,
    ...stages,
    "store get",
    "model embed_passage",
    "sql publish.flip",
  ]);
  expect(new Set(spans.map((span) => span.service))).toEqual(new Set(["holdfast-api", "holdfast-worker"]));
  const named = (name: string): CollectedSpan => spans.find((span) => span.name === name)!;
  expect(named("POST /v1/data/upload").parentSpanId).toBe(spanId);
  for (const name of activities)
    expect(named(name).parentSpanId).toBe(named("workflow documentPipeline").spanId);
  expect(named("workflow documentPipeline").parentSpanId).toBe(named("start documentPipeline").spanId);
  const asked = stack.provider.requests.find((request) => request.route === "embeddings");
  expect(asked?.headers["traceparent"]).toBe(`00-${traceId}-${named("model embed_passage").spanId}-01`);
});

test("one chat turn is one connected trace, with its search, model call and workflow", async () => {
  const { traceId, spanId, headers } = begun("b");
  stack.provider.reply({ pieces: [ANSWER] });
  const body = { model: tenants.agents.analyst, messages: [{ role: "user", content: QUESTION }] };
  expect(
    (await call(stack.url, tenants.keys.editor, "POST", "/chat/completions", body, headers)).status,
  ).toBe(200);
  const spans = await traceOf({ traceId, spanId }, [
    "POST /v1/chat/completions",
    "search dense",
    "search sparse",
    "model embed_query",
    "model chat",
    "workflow chatTurns",
    "activity adoptTurns",
  ]);
  expect(
    spans.find((span) => span.name === "model chat")?.attributes["gen_ai.usage.output_tokens"],
  ).toBeGreaterThan(0);
});

test("a turn that uses a tool is one trace too, over the workflow that runs it", async () => {
  const { traceId, spanId, headers } = begun("c");
  stack.provider.reply(
    { toolCalls: [{ id: "a", name: "knowledge_search", arguments: JSON.stringify({ query: QUESTION }) }] },
    { pieces: [ANSWER] },
  );
  const body = { model: tenants.agents.librarian, messages: [{ role: "user", content: QUESTION }] };
  expect(
    (await call(stack.url, tenants.keys.editor, "POST", "/chat/completions", body, headers)).status,
  ).toBe(200);
  const spans = await traceOf({ traceId, spanId }, [
    "POST /v1/chat/completions",
    "workflow chatTurn",
    "activity runTool",
    "activity callModel",
    "search sparse",
  ]);
  expect(spans.filter((span) => span.name === "model chat")).toHaveLength(2);
});

test("a request without a trace begins one; one that its caller does not want traced has none", async () => {
  const { traceId } = begun("d");
  await call(stack.url, tenants.keys.editor, "GET", "/spaces", undefined, {
    traceparent: `00-${traceId}-${"d".repeat(16)}-00`,
  });
  await call(stack.url, tenants.keys.editor, "GET", "/me");
  await until("the other request's trace is there", () =>
    Promise.resolve(collector.spans.some((span) => span.name === "GET /v1/me" && span.parentSpanId === "")),
  );
  expect(collector.spans.filter((span) => span.traceId === traceId)).toEqual([]);
});

test("no span contains text or names of documents, messages, answers, keys or SQL values", async () => {
  const sent = collector.text();
  expect(sent.length).toBeGreaterThan(10_000);
  const planted = [
    SENTENCE,
    "Eisv",
    "Ufern",
    "eisvogel",
    QUESTION,
    ANSWER,
    tenants.keys.editor,
    "sk-",
    "acme.example",
    "Librarian",
    "insert into",
    "where",
    "$1",
  ];
  expect(planted.filter((text) => sent.includes(text))).toEqual([]);
});
