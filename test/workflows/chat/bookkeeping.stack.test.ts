/** The workflows that note the ends of turns: many turns share one, and a cancelled turn is noted as such. */
import { WorkflowNotFoundError } from "@temporalio/client";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ChatHarness, startChat } from "../../support/stack/chat-harness.ts";
import { turnWorkflowId, workflowStatus } from "../../support/workflows/turn-workflows.ts";
import { until } from "../../support/until.ts";

let chat: ChatHarness;

beforeAll(async () => {
  chat = await startChat();
});
afterAll(() => chat.close());
beforeEach(() => {
  chat.provider.clearFaults();
  chat.provider.replyAlways();
});

const user = (content: string) => [{ role: "user", content }];

describe("the bookkeeping of turns", () => {
  it("shares workflows among many turns, and leaves none open", async () => {
    const before = await groupCount();
    const plain = await chat.addAgent();
    const statuses = await Promise.all(
      Array.from(
        { length: 60 },
        async () => (await chat.chat({ model: plain, messages: user("hi") })).status,
      ),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    await until(
      "no workflow is open",
      async () => (await groupCount("AND ExecutionStatus = 'Running'")) === 0,
    );
    await until("the process keeps no turn", () => chat.host.counts().open === 0);
    await until("every turn is noted as completed", async () => {
      const { rows } = await chat.database.db.owner.query(
        "select count(*)::int as count from turns where agent_id = $1 and status = 'completed'",
        [plain],
      );
      return rows[0].count === 60;
    });
    const groups = (await groupCount()) - before;
    expect(groups).toBeGreaterThan(0);
    expect(groups).toBeLessThan(60);
  });

  it("marks only the cancelled one of several turns as cancelled", async () => {
    const plain = await chat.addAgent();
    chat.provider.replyAlways({ pieces: ["one", "two"], delayMsBetweenPieces: 1_500 });
    // The first turn gets a workflow of its own; those that arrive while it is started share the next.
    const turns = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const leave = new AbortController();
        const response = await chat.chat(
          { model: plain, messages: user("hi"), stream: true },
          { signal: leave.signal },
        );
        const reader = response.body!.getReader();
        const id = /"id":"(chatcmpl-[^"]+)"/.exec(new TextDecoder().decode((await reader.read()).value))![1]!;
        return { id, leave, reader };
      }),
    );
    const [gone, ...others] = turns.toReversed();
    gone!.leave.abort();
    for (const { reader } of others) while (!(await reader.read()).done);
    await until(
      "the cancelled turn's workflow says so",
      async () => (await workflowStatus(chat, turnWorkflowId(chat, gone!.id))) === "CANCELLED",
    );
    const states = await until("all turns have ended", async () => {
      const { rows } = await chat.database.db.owner.query(
        "select id, status from turns where agent_id = $1 and status <> 'open'",
        [plain],
      );
      return (
        rows.length === turns.length && new Map(rows.map(({ id, status }) => [`chatcmpl-${id}`, status]))
      );
    });
    expect(turns.map(({ id }) => states.get(id))).toEqual(
      turns.map(({ id }) => (id === gone!.id ? "cancelled" : "completed")),
    );
    for (const { id } of others)
      await expect(workflowStatus(chat, turnWorkflowId(chat, id))).rejects.toThrow(WorkflowNotFoundError);
    await until(
      "no workflow is open",
      async () => (await groupCount("AND ExecutionStatus = 'Running'")) === 0,
    );
  });

  async function groupCount(more = ""): Promise<number> {
    const { count } = await chat.client.workflow.count(
      `WorkflowId STARTS_WITH 'chat-turns/api-${chat.host.apiProcessId}/' ${more}`,
    );
    return count;
  }
});
