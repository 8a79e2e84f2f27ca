/** Chat while Temporal is down or hangs: turns are answered, and workflows adopt them once it is back. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Relay, relayTo } from "../../support/servers/faulty-parts.ts";
import { type ChatHarness, startChat } from "../../support/stack/chat-harness.ts";
import { until } from "../../support/until.ts";

let relay: Relay;
let other: ChatHarness;
let plain: string;
let withTools: string;

beforeAll(async () => {
  // oxlint-disable-next-line node/no-process-env -- the set-up of the tests hands the server over in it
  relay = await relayTo(`tcp://${process.env["HOLDFAST_TEST_TEMPORAL_ADDRESS"]!}`);
  other = await startChat({ temporalAddress: `127.0.0.1:${relay.port}` });
  plain = await other.addAgent();
  withTools = await other.addAgent({ tool_attachments: [{ tool_id: "list_documents", config: null }] });
});
afterAll(async () => {
  await other?.close();
  await relay?.close();
});
beforeEach(() => other.provider.replyAlways());

const ask = (model: string, stream = false) =>
  other.chat({ model, messages: [{ role: "user", content: "hi" }], stream });
const toolCalls = [{ name: "list_documents", arguments: "{}" }];

async function waiting(): Promise<string[]> {
  const { rows } = await other.database.db.owner.query<{ id: string }>(
    "select id from turns where adopt_after is not null",
  );
  return rows.map(({ id }) => id);
}

/** What the workflows that adopted turns say of them, added up. */
async function adopted(): Promise<Record<string, number>> {
  const sum: Record<string, number> = {};
  const query = `WorkflowId STARTS_WITH 'chat-turns/api-${other.host.apiProcessId}/waited-'`;
  for await (const { workflowId } of other.client.workflow.list({ query })) {
    const counts: Record<string, number> = await other.client.workflow.getHandle(workflowId).result();
    for (const [end, count] of Object.entries(counts)) sum[end] = (sum[end] ?? 0) + count;
  }
  return sum;
}

/** Waits until no turn waits, and expects that workflows have adopted just so many of each kind. */
async function expectAdopted(before: Record<string, number>, ends: Record<string, number>): Promise<void> {
  await until("all are adopted", async () => (await waiting()).length === 0);
  const all = Object.fromEntries(
    Object.entries(ends).map(([end, count]) => [end, (before[end] ?? 0) + count]),
  );
  await until("a workflow shows them", async () => {
    const now = await adopted();
    return Object.keys(ends).every((end) => (now[end] ?? 0) >= all[end]!);
  });
  expect(await adopted()).toMatchObject(all);
}

test("while Temporal is down, turns are answered and wait; only those that ask for a tool get 503", async () => {
  const before = await adopted();
  await relay.cut();
  other.provider.reply({ toolCalls });
  const cutAt = performance.now();
  const first = await ask(withTools);
  expect(first.status).toBe(503);
  expect(performance.now() - cutAt).toBeLessThan(3_000);
  expect(first.headers.get("retry-after")).toBe("2");
  expect(await first.json()).toMatchObject({ error: { code: "workflows_unavailable" } });

  expect((await ask(plain)).status).toBe(200);
  expect((await ask(plain, true)).status).toBe(200);
  expect((await ask(withTools)).status).toBe(200);
  other.provider.reply({ toolCalls });
  const startedAt = performance.now();
  expect((await ask(withTools, true)).status).toBe(503);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  other.provider.reply({ pieces: ["Let me look"], toolCalls });
  const streamed = await (await ask(withTools, true)).text();
  expect(streamed).toContain('"code":"workflows_unavailable"');
  expect(streamed).not.toContain("[DONE]");

  await until("all of them wait", async () => (await waiting()).length === 6);
  expect(other.host.counts().ended).toBe(0);
  await relay.restore();
  await expectAdopted(before, { completed: 3, failed: 3 });
  other.provider.reply({ toolCalls }, { pieces: ["There is none."] });
  await until("tools run again", async () => (await ask(withTools)).status === 200);
}, 60_000);

test("while Temporal hangs, no turn waits for it, however many have ended", async () => {
  const before = await adopted();
  relay.silence();
  const asked = Array.from({ length: 700 }, (_, index) => index);
  let slowestMs = 0;
  const one = async (): Promise<void> => {
    while (asked.pop() !== undefined) {
      const startedAt = performance.now();
      expect((await ask(plain)).status).toBe(200);
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: 8 }, one));
  expect(slowestMs).toBeLessThan(2_000);
  await until("no turn is kept in memory", () => other.host.counts().open === 0);
  await until("all of them wait", async () => (await waiting()).length === 700);
  await relay.restore();
  await until("all are adopted", async () => (await waiting()).length === 0);
  const ids = await other.database.db.owner.query(
    "select from turns where status <> 'completed' and agent_id = $1",
    [plain],
  );
  expect(ids.rowCount).toBe(0);
  expect((await adopted())["completed"]! - (before["completed"] ?? 0)).toBeLessThanOrEqual(700);
}, 60_000);
