import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitContext } from "../../src/agents/context-window.ts";
import type { ChatMessage } from "../../src/models/chat/chat-model.ts";

const words = (text: string): number => text.split(/\s+/).length;
const fit = (messages: readonly ChatMessage[], tokens: number, maxTokens = 10) =>
  fitContext(messages, [], maxTokens, { tokens, count: words });
const message = (role: ChatMessage["role"], content: string): ChatMessage => ({ role, content });
const long = "word ".repeat(40);
const starts = (messages: readonly ChatMessage[], length: number) =>
  messages.map(({ content }) => (content === null ? "" : JSON.stringify(content).slice(1, 1 + length)));

describe("a conversation that does not fit", () => {
  const messages = [
    message("system", "Be brief."),
    message("user", `one ${long}`),
    message("assistant", `1 ${long}`),
    message("user", `two ${long}`),
    message("user", "three"),
  ];

  it("loses its oldest turns first, a question with its answer", () => {
    const { messages: kept, dropped } = fit(messages, 100);
    expect(starts(kept, 3)).toEqual(["Be ", "two", "thr"]);
    expect(dropped).toBe(2);
    expect(fit(messages, 60).dropped).toBe(3);
    expect(fit(messages, 10_000).dropped).toBe(0);
  });

  it("is refused if the system prompt and the last question are too long already", () => {
    expect(() => fit([message("system", long), message("user", long)], 60)).toThrow(
      expect.objectContaining({ code: "bad_request" }),
    );
  });

  it("gives up results of tools before it is refused, the newest last", () => {
    const call = (id: string) => ({
      role: "assistant" as const,
      content: null,
      tool_calls: [{ id, name: "read", arguments: "{}" }],
    });
    const result = (id: string) => ({ role: "tool" as const, content: `${id} ${long}`, tool_call_id: id });
    const { messages: kept } = fit(
      [message("user", "go"), call("a"), result("a"), call("b"), result("b")],
      100,
    );
    expect(starts(kept, 9)).toEqual(['go"', "", "(left out", "", "b word wo"]);
  });
});

it("keeps every system message and the last question, and always fits", () => {
  const any = fc.record({
    role: fc.constantFrom<ChatMessage["role"][]>("system", "user", "assistant"),
    size: fc.integer({ min: 0, max: 30 }),
  });
  fc.assert(
    fc.property(fc.array(any, { maxLength: 30 }), fc.integer({ min: 40, max: 800 }), (drawn, tokens) => {
      const messages = [
        ...drawn.map(({ role, size }) => message(role, "w ".repeat(size))),
        message("user", "the last question"),
      ];
      let fitted;
      try {
        fitted = fit(messages, tokens);
      } catch {
        // The system messages and the question alone are too long.
      }
      fc.pre(fitted !== undefined);
      expect(fitted.messages.at(-1)?.content).toBe("the last question");
      expect(fitted.messages.filter(({ role }) => role === "system")).toEqual(
        messages.filter(({ role }) => role === "system"),
      );
      expect(fitted.messages.length + fitted.dropped).toBe(messages.length);
    }),
    { numRuns: 200 },
  );
});
