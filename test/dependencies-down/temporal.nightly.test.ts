/** What each part of the API does while Temporal is down. */
import { randomUUID } from "node:crypto";
import { Client, Connection } from "@temporalio/client";
import { beforeAll, expect, test } from "vitest";
import { call } from "../support/clients/client.ts";
import {
  type DependencyCalls,
  dependencyCalls,
  expectUnavailable,
  expectWhole,
} from "../support/clients/dependency-calls.ts";
import { onOwnStack } from "../support/stack/own-stack.ts";
import { AGENTS, KEYS } from "../support/tenants/tenants.ts";
import { until } from "../support/until.ts";

const { stack } = onOwnStack({ keepsWorkflows: true });
let calls: DependencyCalls;

beforeAll(async () => {
  calls = dependencyCalls(stack);
  await calls.chatIsReady();
});

test("work is accepted and runs later; reads, search and chat work", async () => {
  const documents = { kept: await calls.completed(), deleted: await calls.completed() };
  await stack.stopTemporal();
  expect((await calls.chat()).status).toBe(200);
  const streamed = await calls.chat(true);
  expectWhole(String(streamed.body));
  stack.provider.reply({ toolCalls: [{ name: "list_documents", arguments: "{}" }] });
  expectUnavailable(await calls.chat(), "chat that asks for a tool");

  await calls.expectReadsWork(documents.kept);
  const uploaded = await calls.put();
  expect(uploaded.status).toBe(201);
  const work = await calls.acceptWork(documents, uploaded.body);
  expect((await calls.send("GET", `/data/${work.uploaded}`)).body.processing_state.pipeline_status).toBe(
    "queued",
  );

  await stack.restartTemporal();
  await calls.expectDone(work);
  await calls.chatIsReady();
}, 150_000);

test("a turn under way completes, but ends with the error event if it needs a tool", async () => {
  const before = stack.provider.counts.chat;
  stack.provider.reply({ pieces: ["one", "two", "three"], delayMsBetweenPieces: 3_000 });
  const plain = await calls.streaming();
  stack.provider.reply({
    pieces: ["Let", " me", " look"],
    delayMsBetweenPieces: 4_000,
    toolCalls: [{ name: "list_documents", arguments: "{}" }],
  });
  const withTool = await calls.streaming();
  expect(stack.provider.counts.chat).toBe(before + 2);
  await stack.stopTemporal();
  expectWhole(await plain.rest);
  const broken = await withTool.rest;
  expect(broken).toContain('"code":"workflows_unavailable"');
  expect(broken).not.toContain("[DONE]");
  await stack.restartTemporal();
  await calls.chatIsReady();
}, 120_000);

test("turns wait for Temporal though API and worker are killed, and workflows adopt several at once", async () => {
  const { owner } = stack.database.db;
  const idsOf = async (which: string): Promise<string[]> =>
    (await owner.query<{ id: string }>(`select id from turns where ${which}`)).rows.map(({ id }) => id);
  const temporal = new Client({ connection: await Connection.connect({ address: stack.temporalAddress }) });
  const adoptions = async (): Promise<string[]> => {
    const query = "WorkflowType = 'chatTurns'";
    const found: string[] = [];
    for await (const { workflowId, status } of temporal.workflow.list({ query }))
      if (workflowId.includes("/waited-")) found.push(`${workflowId} ${status.name}`);
    return found;
  };
  const idOf = (one: string): string => one.split(" ", 1)[0]!;
  await until("nothing waits", async () => (await idsOf("adopt_after is not null")).length === 0);
  const before = new Set((await adoptions()).map(idOf));
  await stack.killTemporal();

  const key = randomUUID();
  const answers = await Promise.all([ask(key), ask(randomUUID()), ask(randomUUID())]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await ask(key)).body).toEqual(answers[0]!.body);
  await until("they wait", async () => (await idsOf("adopt_after is not null")).length === 3);
  stack.provider.reply({ pieces: ["one", "two"], delayMsBetweenPieces: 60_000 });
  const lostKey = randomUUID();
  const lost = ask(lostKey).catch(() => undefined);
  await until("a turn is under way", async () => (await idsOf("status = 'open'")).length === 1);
  await stack.api.kill("SIGKILL");
  await lost;
  await until("it is lost", async () => (await idsOf("status = 'open'")).length === 0);
  await stack.worker.kill("SIGKILL");
  await stack.restartApi();
  stack.restartWorker();
  expect(await ask(lostKey)).toMatchObject({ status: 409, body: { error: { code: "turn_lost" } } });
  expect((await ask(key)).body).toEqual(answers[0]!.body);
  expect((await ask(randomUUID())).status).toBe(200);
  await until("that turn waits too", async () => (await idsOf("adopt_after is not null")).length === 4);

  await stack.restartTemporal();
  await until("none waits", async () => (await idsOf("adopt_after is not null")).length === 0, 60_000);
  const adopting = await until("Temporal shows who adopted them", async () => {
    const now = (await adoptions()).filter((one) => !before.has(idOf(one)));
    return now.length > 0 && now.every((one) => one.endsWith("COMPLETED")) && now;
  });
  // The last turn may be due a moment after the three.
  expect(adopting.length).toBeLessThanOrEqual(2);
  await temporal.connection.close();
}, 150_000);

const ask = (key: string) =>
  call(
    stack.url,
    KEYS.owner,
    "POST",
    "/chat/completions",
    { model: AGENTS.public, messages: [{ role: "user", content: "How large?" }] },
    { connection: "close", "idempotency-key": key },
  );
