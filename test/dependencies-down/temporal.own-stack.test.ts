/** What each part of the API does while Temporal is down. */
import { beforeAll, expect, test } from "vitest";
import {
  type DependencyCalls,
  dependencyCalls,
  expectUnavailable,
  expectWhole,
} from "../support/clients/dependency-calls.ts";
import { onOwnStack } from "../support/stack/own-stack.ts";
import { until } from "../support/until.ts";

const { stack } = onOwnStack({ keepsWorkflows: true });
let calls: DependencyCalls;

beforeAll(async () => {
  calls = dependencyCalls(stack);
  await calls.chatIsReady();
});

test("work is accepted and runs later, reads and search work, and chat is refused at once", async () => {
  const documents = { kept: await calls.completed(), deleted: await calls.completed() };
  await stack.stopTemporal();
  await until("chat is refused", async () => (await calls.chat()).status === 503);
  expectUnavailable(await calls.chat(), "chat");
  expectUnavailable(await calls.chat(true), "streamed chat");

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
