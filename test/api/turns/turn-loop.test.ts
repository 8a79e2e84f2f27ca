import { expect, test, vi } from "vitest";
import type { Agent } from "../../../src/db/turns/agents-in-chat.ts";
import type { Principal } from "../../../src/domain/tenancy/principal.ts";
import type { ChatEvent } from "../../../src/models/chat/chat-model.ts";
import { createLoop } from "../../../src/api/turns/turn-loop.ts";

type LoopDeps = Parameters<typeof createLoop>[0]["deps"];

const SEARCH = { id: "a", name: "knowledge_search", arguments: '{"query":"revenue"}' };
const PASSAGE = {
  chunk_id: "01900000-0000-7000-8000-000000000001",
  document_id: "01900000-0000-7000-8000-000000000002",
  document_name: "report.pdf",
  chunk_index: 0,
  page: null,
  text: "Revenue grew by 12 percent.",
};

/** Asks for a search, and answers with a mark. */
async function* answers(call: number): AsyncGenerator<ChatEvent> {
  if (call === 1) yield { type: "tool_calls", calls: [SEARCH] };
  else yield { type: "content", text: "Revenue grew by 12 percent [1]." };
  yield { type: "finish", reason: "stop", usage: null };
}

test("an answer comes without quotes if the database does not say in time what is published", async () => {
  const warn = vi.fn<(details: unknown, message: string) => void>();
  let calls = 0;
  const deps = {
    model: { name: "model", stream: () => answers(++calls), countTokens: () => 1 },
    // No connection becomes free.
    search: { db: { app: { connect: () => new Promise(() => undefined) } } },
    toolbox: { definitions: async () => [{ name: SEARCH.name }], isNear: () => true },
    ledger: { call: () => undefined },
    log: { warn },
    receipts: { issue: () => Promise.reject(new Error("Nothing is to be signed.")) },
    contextTokens: 10_000,
    budget: { modelCalls: 8, tokens: 10_000, seconds: 60 },
    canUseTools: () => true,
  } as unknown as LoopDeps;
  const agent = { agent_type: "simple", show_citations: true, system_prompt: "", data_access_mode: "caller" };
  const shown: string[] = [];
  const loop = createLoop({
    turnId: "turn",
    deps,
    request: {
      agent: agent as Agent,
      principal: {
        organization: { id: "01900000-0000-7000-8000-000000000003", num: 1 },
        reach: new Map(),
      } as unknown as Principal,
      messages: [{ role: "user", content: "How is revenue?" }],
      options: {},
    },
    sink: { isCommitted: false, begun: () => undefined, content: (text) => void shown.push(text) },
    signal: new AbortController().signal,
  });
  expect(await loop.begin()).toMatchObject({ type: "tools" });
  const step = await loop.goOn([{ id: "a", type: "passages", passages: [PASSAGE] }]);
  expect(shown.join("")).toBe("Revenue grew by 12 percent [1].");
  expect(step).toMatchObject({
    type: "answered",
    result: { citations: [{ index: 1, ...PASSAGE }], marks: [{ index: 1, start: 27, end: 30 }] },
  });
  expect(JSON.stringify(step)).not.toContain('"quote"');
  expect(warn).toHaveBeenCalledWith(expect.anything(), "an answer has no quotes and receipts");
});
