import { beforeEach, expect, test } from "vitest";
import { createAccountedRerankers } from "../../../src/api/turns/rerank-on-account.ts";
import type { TurnCallRow, TurnEnd } from "../../../src/db/turns/ledger.ts";
import { DomainError } from "../../../src/domain/errors.ts";
import type { Principal } from "../../../src/domain/tenancy/principal.ts";
import type { ChatEvent, ChatModel } from "../../../src/models/chat/chat-model.ts";

const CALLER = {
  organization: { id: "organization", num: 1 },
  user: { id: "user" },
  apiKeyId: "key",
} as unknown as Principal;
const TEXTS = ["one", "two"];
const USAGE = { prompt_tokens: 90, completion_tokens: 7, total_tokens: 97 };

let asked: number;
let calls: TurnCallRow[];
let ends: TurnEnd[];
beforeEach(() => {
  asked = 0;
  calls = [];
  ends = [];
});

interface Parts {
  readonly events?: Iterable<ChatEvent | Error>;
  readonly isLocal?: boolean;
  readonly checkBudgets?: () => Promise<void>;
}

function reranker({ events = [], isLocal = false, checkBudgets = async () => undefined }: Parts) {
  async function* stream(): AsyncGenerator<ChatEvent> {
    asked += 1;
    for (const event of events) {
      if (event instanceof Error) throw event;
      yield event;
    }
  }
  const model: ChatModel = { name: "m", names: ["m"], isLocal, stream, countTokens: (text) => text.length };
  return createAccountedRerankers({
    model,
    ledger: { call: (call) => void calls.push(call), end: (end) => void ends.push(end) },
    apiProcessId: "process",
    checkBudgets,
  })(CALLER);
}

const content = (text: string): ChatEvent => ({ type: "content", text });

test("what the provider counted is in the books of the caller, as a turn that is no answer", async () => {
  const events = [content('{"order": [2, 1]}'), { type: "finish", reason: "stop", usage: USAGE } as const];
  expect(await reranker({ events })!.rank("q", TEXTS)).toEqual([1 / 2, 1]);
  expect(calls).toEqual([
    {
      turn_id: ends[0]!.id,
      call_no: 1,
      organization_id: "organization",
      model: "m",
      prompt_tokens: 90,
      completion_tokens: 7,
    },
  ]);
  expect(ends).toMatchObject([
    {
      user_id: "user",
      api_key_id: "key",
      agent_id: null,
      space_id: null,
      status: "completed",
      is_rerank: true,
    },
  ]);
});

test("tokens are counted here if the provider does not, also of an answer that broke off", async () => {
  const events = [content('{"order'), new DomainError("provider_unavailable", "cut")];
  await expect(reranker({ events })!.rank("q", TEXTS)).rejects.toThrow("cut");
  expect(calls).toMatchObject([{ completion_tokens: '{"order'.length }]);
  expect(calls[0]!.prompt_tokens).toBeGreaterThan(100);
  expect(ends).toMatchObject([{ status: "failed", error_code: "provider_unavailable" }]);
});

test("a call that nothing came of is in no book", async () => {
  const down = reranker({ events: [new DomainError("provider_unavailable", "down")] });
  await expect(down!.rank("q", TEXTS)).rejects.toThrow("down");
  expect([calls, ends]).toEqual([[], []]);
});

test("one that its caller has left is cancelled", async () => {
  const gone = new AbortController();
  function* events(): Generator<ChatEvent> {
    yield content("{");
    gone.abort(new Error("gone"));
    yield content("}");
  }
  await expect(reranker({ events: events() })!.rank("q", TEXTS, gone.signal)).rejects.toThrow("gone");
  expect(ends).toMatchObject([{ status: "cancelled", error_code: null }]);
});

test("with a budget used up the model is not asked", async () => {
  const checkBudgets = () => Promise.reject(new DomainError("token_budget_exceeded", "none left"));
  await expect(reranker({ checkBudgets })!.rank("q", TEXTS)).rejects.toThrow("none left");
  expect([asked, calls, ends]).toEqual([0, [], []]);
});

test("the built-in model ranks nothing", () => {
  expect(reranker({ isLocal: true })).toBeUndefined();
});
