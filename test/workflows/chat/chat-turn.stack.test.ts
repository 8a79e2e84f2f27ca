/** A turn that asks for tools: its answer, its usage, its limits, and its end if the client leaves. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ChatHarness, startChat } from "../../support/stack/chat-harness.ts";
import { turnWorkflowId, workflowStatus } from "../../support/workflows/turn-workflows.ts";
import { until } from "../../support/until.ts";

const TOOLS = ["current_time", "list_documents", "knowledge_search", "read_document"].map((tool_id) => ({
  tool_id,
  config: null,
}));

/** Temporal gives a workflow task ten seconds, which a local activity extends. */
const LONGER_THAN_A_TASK_MS = 11_000;

let chat: ChatHarness;
let agent: string;

beforeAll(async () => {
  chat = await startChat();
  agent = await chat.addAgent({ tool_attachments: TOOLS });
});
afterAll(() => chat.close());
beforeEach(() => chat.provider.reset());

const user = (content: string) => [{ role: "user", content }];
const requests = () =>
  chat.provider.requests.filter((request) => request.route === "chat").map((request) => request.body);
const call = (id: string, name: string, args: unknown) => ({
  id,
  name,
  arguments: typeof args === "string" ? args : JSON.stringify(args),
});
const workflowOf = (completionId: string) => turnWorkflowId(chat, completionId);
const statusOf = (workflowId: string) => workflowStatus(chat, workflowId);

async function ask(content: string, stream = false): Promise<any> {
  const response = await chat.chat({ model: agent, messages: user(content), stream });
  expect(response.status).toBe(200);
  return stream ? response.text() : response.json();
}

describe("a turn that asks for tools", () => {
  it("runs them side by side and answers with what came of them", async () => {
    chat.provider.reply(
      {
        toolCalls: [
          call("a", "current_time", { timezone: "Europe/Berlin" }),
          call("b", "list_documents", {}),
        ],
      },
      { pieces: ["Done", "."] },
    );
    const body = await ask("what time is it?");
    expect(body.choices[0].message).toEqual({
      role: "assistant",
      content: "Done.",
      tool_calls: null,
      refusal: null,
      annotations: [],
    });
    const [first, second] = requests();
    expect(first!["tools"].map((tool: any) => tool.function.name).toSorted()).toEqual(
      TOOLS.map(({ tool_id }) => tool_id).toSorted(),
    );
    const [asked, time, list] = second!["messages"].slice(-3);
    expect(asked.tool_calls.map((made: any) => made.id)).toEqual(["a", "b"]);
    expect(time).toMatchObject({
      role: "tool",
      tool_call_id: "a",
      content: expect.stringMatching(/^\d{4}-.*Z \(/),
    });
    expect(list).toMatchObject({
      role: "tool",
      tool_call_id: "b",
      content: "0 documents in all; page 1 has 0.",
    });
    expect(
      await until(
        "its workflow has ended",
        async () => (await statusOf(workflowOf(body.id))) === "COMPLETED",
      ),
    ).toBe(true);
  });

  it("sums the usage of its calls and notes each once", async () => {
    chat.provider.reply(
      { pieces: ["Let me see."], toolCalls: [call("a", "current_time", {})] },
      { pieces: ["It", " is", " late."] },
    );
    const body = await ask("now?");
    expect(body.choices[0].message.content).toBe("Let me see.\n\nIt is late.");
    const id = body.id.replace("chatcmpl-", "");
    const calls = await until("both calls are noted", async () => {
      const { rows } = await chat.database.db.owner.query(
        `select call_no, prompt_tokens, completion_tokens
         from turn_calls
         where turn_id = $1
         order by call_no`,
        [id],
      );
      return rows.length === 2 && rows;
    });
    expect(calls.map((noted) => noted.call_no)).toEqual([1, 2]);
    const sum = (field: string) => calls.reduce((total, noted) => total + noted[field], 0);
    expect(body.usage).toEqual({
      prompt_tokens: sum("prompt_tokens"),
      completion_tokens: sum("completion_tokens"),
      total_tokens: sum("prompt_tokens") + sum("completion_tokens"),
    });
  });

  it("streams the answer after its tools in one stream", async () => {
    chat.provider.reply({ toolCalls: [call("a", "current_time", {})] }, { pieces: ["late", " enough"] });
    const text = await ask("now?", true);
    expect(text.match(/"role":"assistant"/g)).toHaveLength(1);
    expect(text).toContain('"content":"late"');
    expect(text.trimEnd().endsWith("data: [DONE]")).toBe(true);
  });

  it("tells the model of an error in a tool and goes on", async () => {
    chat.provider.reply(
      { toolCalls: [call("a", "read_document", { document_id: "no uuid" })] },
      { pieces: ["I could not."] },
    );
    const body = await ask("read it");
    expect(body.choices[0].message.content).toBe("I could not.");
    expect(requests()[1]!["messages"].at(-1)).toMatchObject({
      role: "tool",
      content: expect.stringMatching(/^Error: Invalid arguments for read_document: document_id/),
    });
  });

  it.each([
    ["an unknown tool", call("a", "rm_rf", {}), /no tool named "rm_rf"/],
    ["invalid JSON", call("a", "current_time", "{oops"), /not valid JSON/],
    [
      "arguments that are too large",
      call("a", "current_time", { timezone: "x".repeat(20_000) }),
      /too large/,
    ],
  ])("is told once of %s, then answers without tools and says so", async (_, bad, message) => {
    chat.provider.replyAlways((request) =>
      request["tools"] ? { toolCalls: [bad] } : { pieces: ["What I know."] },
    );
    const body = await ask("go");
    const made = requests();
    expect(made).toHaveLength(3);
    expect(made[1]!["messages"].at(-1).content).toMatch(message);
    expect(made[2]).not.toHaveProperty("tools");
    expect(body.choices[0].message.content).toBe(
      "What I know.\n\n(Stopped early: the tool calls were invalid.)",
    );
  });

  it("ends in an answer that says so when its model calls are used up", async () => {
    chat.provider.replyAlways((request) =>
      request["tools"] ? { toolCalls: [call("a", "current_time", {})] } : { pieces: ["Enough."] },
    );
    const body = await ask("loop");
    expect(requests()).toHaveLength(8);
    expect(body.choices[0].message.content).toBe(
      "Enough.\n\n(Stopped early: the budget of 8 model calls is used up.)",
    );
  });

  it("leaves no message in Temporal's histories, and tool arguments only encrypted", async () => {
    const [secret, argument] = ["pelican-secret-question", "Antarctica/Troll"];
    chat.provider.reply(
      { pieces: ["heron-secret-text"], toolCalls: [call("a", "current_time", { timezone: argument })] },
      { pieces: ["stork-secret-answer"] },
    );
    const body = await ask(secret);
    const id = body.id.replace("chatcmpl-", "");
    await chat.chat({ model: await chat.addAgent(), messages: user(secret) });
    const groups = await until("a plain turn has a bookkeeping workflow", async () => {
      const found: string[] = [];
      for await (const group of chat.client.workflow.list({
        query: `WorkflowId STARTS_WITH 'chat-turns/api-${chat.host.apiProcessId}/'`,
      }))
        found.push(group.workflowId);
      return found.length > 0 && found;
    });
    const histories = await Promise.all([workflowOf(body.id), ...groups].map(rawHistory));
    const all = histories.join("\n");
    // Positive control: this search finds text that is in a history unencrypted.
    expect(all).toContain(`chat-turn/${chat.organization.id}/${id}`);
    for (const text of [secret, "heron-secret-text", "stork-secret-answer", argument]) {
      expect(all).not.toContain(text);
      for (let shift = 0; shift < 3; shift += 1)
        expect(all).not.toContain(
          Buffer.from(" ".repeat(shift) + text)
            .toString("base64")
            .slice(4, -4),
        );
    }
  });
});

async function rawHistory(workflowId: string): Promise<string> {
  const response = await chat.client.workflowService.getWorkflowExecutionHistory({
    namespace: "default",
    execution: { workflowId },
  });
  const bytes = JSON.stringify(response.history, (_, value) =>
    value?.type === "Buffer" || value instanceof Uint8Array
      ? Buffer.from(value.data ?? value).toString("latin1")
      : value,
  );
  return `${bytes}\n${JSON.stringify(response.history)}`;
}

describe("a turn whose client goes away while a tool runs", () => {
  it("ends as cancelled in the database and in Temporal", async () => {
    const leave = new AbortController();
    chat.provider.reply({ pieces: ["wait"], toolCalls: [call("a", "current_time", {})] }, { hang: true });
    const response = await chat.chat(
      { model: agent, messages: user("go"), stream: true },
      { signal: leave.signal },
    );
    const first = new TextDecoder().decode((await response.body!.getReader().read()).value);
    const turnId = /chatcmpl-([0-9a-f-]{36})/.exec(first)![1]!;
    await until("the second call is made", () => requests().length === 2);
    leave.abort();
    await until(
      "its workflow is cancelled",
      async () => (await statusOf(`chat-turn/${chat.organization.id}/${turnId}`)) === "CANCELLED",
    );
    await until("the provider is aborted", () => chat.provider.requests.at(-1)!.abortedAt !== undefined);
    const noted = await until("the turn's end is noted", async () => {
      const { rows } = await chat.database.db.owner.query(
        "select status from turns where id = $1 and status <> 'open'",
        [turnId],
      );
      return rows[0];
    });
    expect(noted.status).toBe("cancelled");
  });
});

describe("the model call after tools", () => {
  it("is aborted when its client goes away, and the turn's workflow ends as cancelled", async () => {
    chat.provider.reply(
      { toolCalls: [call("a", "current_time", {})] },
      { pieces: ["late", " enough"], after: 1, breakWith: "hang" },
    );
    const leave = new AbortController();
    const response = await chat.chat(
      { model: agent, messages: user("now?"), stream: true },
      { signal: leave.signal },
    );
    let text = "";
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      text += part;
      if (text.includes("late")) break;
    }
    leave.abort();
    await until("the provider is aborted", () => chat.provider.requests.at(-1)!.abortedAt !== undefined);
    const [, id] = /"id":"(chatcmpl-[^"]+)"/.exec(text)!;
    await until("its workflow says so", async () => (await statusOf(workflowOf(id!))) === "CANCELLED");
  });

  it("may last longer than a task of its workflow", async () => {
    chat.provider.reply(
      { toolCalls: [call("a", "current_time", {})] },
      { pieces: ["late"], firstTokenMs: LONGER_THAN_A_TASK_MS },
    );
    const body = await ask("now?");
    expect(body.choices[0].message.content).toBe("late");
    expect(requests()).toHaveLength(2);
    await until("its workflow has ended", async () => (await statusOf(workflowOf(body.id))) === "COMPLETED");
  });
});
