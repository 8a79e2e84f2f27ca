/** What each part of the API does while something that the service depends on is down: one test a cell of the promise, on the real parts. */
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { freePort } from "../src/embedded/ports.ts";
import { type Answer, call, ended, fileForm, upload } from "./support/client.ts";
import { type Relay, relayTo, through } from "./support/faulty-parts.ts";
import { startIssuer, type TestIssuer } from "./support/issuer.ts";
import { type Stack, startStack } from "./support/stack.ts";
import { AGENTS, KEYS, SPACES } from "./support/tenants.ts";
import { until } from "./support/until.ts";

/** Longer than this is a hang. */
const AT_MOST_MS = 10_000;
const TEXT = "# Capybaras\n\nCapybaras are the largest rodents that live today.";

let stack: Stack;
let issuer: TestIssuer;
let database: Relay;
let jwt: string;

beforeAll(async () => {
  issuer = await startIssuer();
  database = await relayTo(process.env["HOLDFAST_TEST_DATABASE_URL"] ?? "");
  stack = await startStack({ keepsWorkflows: true, env: (url) => ({ DATABASE_URL: through(url, database), OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: issuer.audience }) });
  jwt = await issuer.token("ada");
  await until("chat is ready", async () => (await chat()).status === 200);
});
afterAll(async () => {
  await stack.close();
  await database.close();
  await issuer.close().catch(() => undefined);
});
beforeEach(() => {
  stack.provider.clearFaults();
  stack.provider.replyAlways();
});

/** One request, which fails where it hangs. */
async function send(method: string, path: string, body?: unknown, key = KEYS.owner): Promise<Answer> {
  const startedAt = performance.now();
  const answer = await call(stack.url, key, method, path, body, { connection: "close" });
  expect(performance.now() - startedAt, `${method} ${path} took too long`).toBeLessThan(AT_MOST_MS);
  return answer;
}

const put = (): Promise<Answer> => send("POST", "/data/upload", fileForm(TEXT, "capybaras.md", { space_id: SPACES.research }));
const search = (): Promise<Answer> => send("POST", "/data/hybrid-search", { query: "largest rodents", space_id: SPACES.research });
const chat = (stream = false): Promise<Answer> => send("POST", "/chat/completions", { model: AGENTS.librarian, messages: [{ role: "user", content: "How large?" }], stream });
const downloadPath = (document: Answer["body"]): string => `/spaces/${SPACES.research}/data/download?path=${encodeURIComponent(document.file_path)}`;

async function completed(): Promise<Answer["body"]> {
  const document = await upload(stack.url, KEYS.owner, SPACES.research, TEXT, "capybaras.md");
  return ended(stack.url, KEYS.owner, document.id);
}

function expectUnavailable(answer: Answer, what: string): void {
  expect({ what, status: answer.status, body: answer.body }).toEqual({ what, status: 503, body: { detail: expect.any(String) } });
  expect(Number(answer.headers.get("retry-after")), `Retry-After of ${what}`).toBeGreaterThan(0);
}

/** A stream whose first piece has come; `rest` is everything, once it ends. */
async function streaming(): Promise<{ rest: Promise<string> }> {
  const response = await fetch(`${stack.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEYS.owner}`, "content-type": "application/json" },
    body: JSON.stringify({ model: AGENTS.librarian, messages: [{ role: "user", content: "hi" }], stream: true }),
  });
  expect(response.status).toBe(200);
  return { rest: response.text() };
}

function expectWhole(streamed: string): void {
  expect(streamed.trimEnd().slice(-200)).toMatch(/data: \[DONE\]$/);
}

/** Reads and searches as they answer while all they need is there. */
async function expectReadsWork(document: Answer["body"]): Promise<void> {
  expect((await send("GET", `/data/${document.id}`)).status).toBe(200);
  expect((await send("GET", `/data/${document.id}/chunks`)).status).toBe(200);
  expect((await send("POST", "/data/search", {})).status).toBe(200);
  const found = await search();
  expect(found.status).toBe(200);
  expect(found.body.results.map((hit: { document_id: string }) => hit.document_id)).toContain(document.id);
}

/** Asks for all that goes on in the background, which is accepted. */
async function acceptWork(documents: { kept: Answer["body"]; deleted: Answer["body"] }, uploaded: Answer["body"]) {
  expect(await send("POST", `/data/${documents.kept.id}/reprocess`, { chunker_name: "sentence" })).toMatchObject({ status: 202 });
  const batch = await send("POST", "/data/batch-reprocess", { document_ids: [uploaded.id] });
  expect(batch).toMatchObject({ status: 202, body: { accepted: 1 } });
  expect((await send("DELETE", `/data/${documents.deleted.id}`)).status).toBe(204);
  return { uploaded, reprocessed: documents.kept.id, batchId: batch.body.batch_id, deleted: documents.deleted.id };
}

async function expectDone({ uploaded, reprocessed, batchId, deleted }: Awaited<ReturnType<typeof acceptWork>>): Promise<void> {
  expect((await ended(stack.url, KEYS.owner, uploaded.id, 60_000)).processing_state.pipeline_status).toBe("completed");
  expect((await ended(stack.url, KEYS.owner, reprocessed, 60_000)).processing_state).toMatchObject({ pipeline_status: "completed", chunker_name: "sentence" });
  await until("the batch has ended", async () => (await send("GET", `/data/batches/${batchId}`)).body.status === "completed");
  await until("what was deleted is gone", async () => (await stack.database.db.owner.query("select from pipeline_runs where document_id = $1", [deleted])).rowCount === 0);
}

describe("while Temporal is down", () => {
  test("work is accepted and runs once it is back; reads and search work; chat is refused, and a turn under way ends", async () => {
    const documents = { kept: await completed(), deleted: await completed() };
    stack.provider.reply(
      { pieces: ["one", "two", "three"], delayMsBetweenPieces: 1_500 },
      { pieces: ["Let me look"], delayMsBetweenPieces: 100, toolCalls: [{ name: "list_documents", arguments: "{}" }], firstTokenMs: 2_500 },
    );
    const before = stack.provider.counts.chat;
    const plain = await streaming();
    const withTool = streaming();
    await until("the provider is asked for both", () => stack.provider.counts.chat === before + 2);
    await stack.stopTemporal();

    await until("chat is refused", async () => (await chat()).status === 503);
    expectUnavailable(await chat(), "chat");
    expectUnavailable(await chat(true), "streamed chat");
    expectWhole(await plain.rest);
    const broken = await (await withTool).rest;
    expect(broken).toContain('"code":"workflows_unavailable"');
    expect(broken).not.toContain("[DONE]");

    await expectReadsWork(documents.kept);
    const uploaded = await put();
    expect(uploaded.status).toBe(201);
    const work = await acceptWork(documents, uploaded.body);
    expect((await send("GET", `/data/${work.deleted}`)).status).toBe(404);
    expect((await send("GET", `/data/${work.uploaded.id}`)).body.processing_state.pipeline_status).toBe("queued");

    await stack.restartTemporal();
    await expectDone(work);
    await until("chat works again", async () => (await chat()).status === 200);
  });
});

describe("while Postgres is down", () => {
  test("everything is 503, a stream under way goes on, and all works again once it is back", async () => {
    const document = await completed();
    stack.provider.reply({ pieces: ["one", "two", "three", "four"], delayMsBetweenPieces: 3_000 });
    const running = await streaming();
    await database.cut();
    try {
      const asked: readonly (readonly [string, Promise<Answer>])[] = [
        ["upload", put()],
        ["reprocess", send("POST", `/data/${document.id}/reprocess`)],
        ["batch", send("POST", "/data/batch-reprocess", { document_ids: [document.id] })],
        ["delete", send("DELETE", `/data/${document.id}`)],
        ["read", send("GET", `/data/${document.id}`)],
        ["list", send("POST", "/data/search", {})],
        ["search", search()],
        ["download", send("GET", downloadPath(document))],
        ["a token", send("GET", "/me", undefined, jwt)],
        ["a key that is not cached", send("GET", `/data/${document.id}`, undefined, KEYS.rival)],
      ];
      for (const [what, answer] of asked) expectUnavailable(await answer, what);
      // What was looked up a moment ago is good for a few seconds.
      await until("chat is refused", async () => (await chat()).status === 503, AT_MOST_MS);
      expectUnavailable(await chat(), "chat");
      expectUnavailable(await chat(true), "streamed chat");
      expect((await fetch(`${stack.url}/health`)).status).toBe(200);
      expectWhole(await running.rest);
    } finally {
      await database.restore();
    }
    await until("reads work again", async () => (await send("GET", `/data/${document.id}`)).status === 200);
    expect((await ended(stack.url, KEYS.owner, (await put()).body.id, 60_000)).processing_state.pipeline_status).toBe("completed");
    await until("chat works again", async () => (await chat()).status === 200);
  });

  test("a Postgres that takes connections and says nothing is down too", async () => {
    database.silence();
    try {
      const asked = await Promise.all([send("POST", "/data/search", {}), search(), put(), chat()]);
      for (const answer of asked) expectUnavailable(answer, "a request");
    } finally {
      await database.restore();
    }
    await until("reads work again", async () => (await send("POST", "/data/search", {})).status === 200);
  });
});

describe("while the object store is down", () => {
  const kinds: readonly (readonly [string, () => Promise<() => Promise<void>>])[] = [
    ["a folder that cannot be used", breakFolder],
    ["a bucket that cannot be reached", loseBucket],
  ];

  test.each(kinds)("%s: uploads and downloads are 503, all else works", async (_kind, takeAway) => {
    const documents = { kept: await completed(), deleted: await completed() };
    const giveBack = await takeAway();
    try {
      expectUnavailable(await put(), "upload");
      expectUnavailable(await send("POST", `/spaces/${SPACES.research}/data/upload`, fileForm(TEXT, "a.md", { path: "" })), "upload to a path");
      expectUnavailable(await send("GET", downloadPath(documents.kept)), "download");
      await expectReadsWork(documents.kept);
      expect((await chat()).status).toBe(200);
      const work = await acceptWork(documents, documents.kept);
      await giveBack();
      await until("the batch has ended", async () => (await send("GET", `/data/batches/${work.batchId}`)).body.status === "completed", 60_000);
      expect((await send("GET", downloadPath(documents.kept))).body).toBe(TEXT);
    } finally {
      await giveBack();
    }
  });

  /** A file where the folder of objects should be. */
  async function breakFolder(): Promise<() => Promise<void>> {
    const folder = join(stack.dataDir, "objects");
    let isBroken = true;
    await rename(folder, `${folder}-away`);
    await writeFile(folder, "");
    return async () => {
      if (!isBroken) return;
      isBroken = false;
      await rm(folder);
      await rename(`${folder}-away`, folder);
    };
  }

  /** The API alone, so that what was accepted can be processed. */
  async function loseBucket(): Promise<() => Promise<void>> {
    const nobody = await freePort();
    await restartApi({ GCS_BUCKET: "objects", STORAGE_EMULATOR_HOST: `http://127.0.0.1:${nobody}` });
    let isLost = true;
    return async () => {
      if (isLost) await restartApi();
      isLost = false;
    };
  }
});

async function restartApi(extra: Record<string, string> = {}): Promise<void> {
  await stack.api.kill("SIGTERM");
  await stack.restartApi(extra);
  await until("chat is ready", async () => (await chat()).status === 200);
}

describe("while the model provider is down", () => {
  test("pipelines wait and lose nothing; search answers by words alone and says so", async () => {
    const document = await completed();
    stack.provider.failEmbeddings({ status: 503 });
    const accepted = await put();
    expect(accepted.status).toBe(201);
    expect((await send("POST", `/data/${document.id}/reprocess`)).status).toBe(202);
    await until(
      "the run says what it waits for",
      async () =>
        (await stack.database.db.owner.query("select from pipeline_runs where document_id = $1 and waiting_for = 'provider_unavailable'", [accepted.body.id])).rowCount === 1,
    );

    const found = await send("POST", "/data/hybrid-search", { query: "which rodents are the largest today", space_id: SPACES.research });
    expect(found.status).toBe(200);
    expect(found.headers.get("warning")).toMatch(/^199 holdfast "/);
    expect(found.body.results.length).toBeGreaterThan(0);
    for (const hit of found.body.results) expect(hit).toMatchObject({ dense_score: null, sparse_score: expect.any(Number) });
    expect((await send("GET", `/data/${document.id}`)).status).toBe(200);

    stack.provider.clearFaults();
    expect((await ended(stack.url, KEYS.owner, accepted.body.id, 60_000)).processing_state.pipeline_status).toBe("completed");
    expect((await search()).headers.get("warning")).toBeNull();
  });

  test("a provider that never answers holds up no search", async () => {
    stack.provider.failEmbeddings({ hang: true });
    const found = await send("POST", "/data/hybrid-search", { query: "rodents that are large", space_id: SPACES.research });
    expect(found.status).toBe(200);
    expect(found.headers.get("warning")).toMatch(/^199 holdfast "/);
  });

  test.each([
    ["its rate limit", { status: 429, headers: { "retry-after": "7" } }, 429, "7", null],
    ["its time-out", { status: 504 }, 504, null, null],
    ["its outage", { status: 500 }, 502, null, null],
    ["its refusal", { status: 400 }, 502, null, "false"],
    ["an answer that is none", { garbage: true as const }, 502, null, null],
  ])("chat tells %s", async (_what, fault, status, retryAfter, shouldRetry) => {
    for (const stream of [false, true]) {
      stack.provider.failChat(fault);
      const answer = await chat(stream);
      expect(answer).toMatchObject({ status, body: { detail: expect.any(String) } });
      expect(answer.headers.get("retry-after")).toBe(retryAfter);
      expect(answer.headers.get("x-should-retry")).toBe(shouldRetry);
    }
  });
});

describe("while the OpenID issuer is down", () => {
  test("keys work, and so do tokens whose signing key is known; other tokens are 503", async () => {
    expect((await send("GET", "/me", undefined, jwt)).status).toBe(200);
    await issuer.close();
    expect((await send("GET", "/me", undefined, jwt)).status).toBe(200);
    expect((await send("POST", "/data/search", {}, jwt)).status).toBe(200);

    await restartApi();
    expectUnavailable(await send("GET", "/me", undefined, jwt), "a token");
    expectUnavailable(await send("POST", "/data/search", {}, jwt), "a token on an endpoint for keys");
    expect((await send("POST", "/data/search", {})).status).toBe(200);
  });
});
