import { expect, test } from "vitest";
import {
  type ChatEvent,
  type ChatMessage,
  type ChatRequest,
  createChatModel,
} from "../../../src/models/chat/chat-model.ts";
import { analyze, analyzeQuery } from "../../../src/search/text/analyzer.ts";

const model = await createChatModel({}, { analyze, analyzeQuery });

async function events(messages: ChatMessage[], more: Partial<ChatRequest> = {}): Promise<ChatEvent[]> {
  const all: ChatEvent[] = [];
  for await (const event of model.stream(
    { model: model.name, messages, ...more },
    new AbortController().signal,
  ))
    all.push(event);
  return all;
}
const textOf = (all: ChatEvent[]): string =>
  all.map((event) => (event.type === "content" ? event.text : "")).join("");
const sources = (...blocks: string[]): ChatMessage => ({
  role: "system",
  content: [
    "Answer from these.",
    "<<<SOURCES",
    blocks.map((block, index) => `[${index + 1}] file ${index + 1}.md\n${block}`).join("\n\n"),
    "SOURCES>>>",
  ].join("\n"),
});
const user = (content: string): ChatMessage => ({ role: "user", content });
const SEARCH = [{ name: "knowledge_search", description: "", parameters: {} }];

test("quotes the matching sentence with its mark, and says that no model is configured", async () => {
  const all = await events([
    sources(
      "Cats sleep a lot. Dogs bark at night.",
      "# Warranty\n\nThe warranty lasts two years from the date\nof purchase. Keep the receipt.",
    ),
    user("How long does the warranty last?"),
  ]);
  const text = textOf(all);
  expect(text).toContain("“The warranty lasts two years from the date of purchase.” [2]");
  expect(text).toContain("No language model is configured");
  expect(text).not.toContain("Dogs");
  expect(all.length).toBeGreaterThan(10);
  const finish = all.at(-1);
  expect(finish).toMatchObject({ type: "finish", reason: "stop" });
  expect(
    finish?.type === "finish" &&
      finish.usage!.total_tokens === finish.usage!.prompt_tokens + finish.usage!.completion_tokens &&
      finish.usage!.completion_tokens > 10,
  ).toBe(true);
});

test.each([
  [
    "Wie lange gilt die Garantie?",
    "Die Garantie gilt zwei Jahre ab dem Kauf.",
    "Der Versand dauert drei Tage.",
  ],
  ["保修期多长？", "保修期为两年。", "我们明天发货。"],
  ["ما هي مدة الضمان؟", "مدة الضمان سنتان من تاريخ الشراء.", "يستغرق الشحن ثلاثة أيام عمل."],
])("finds the sentence for %s", async (question, match, other) => {
  const text = textOf(await events([sources(`${other} ${match}`), user(question)]));
  expect(text).toContain(`“${match}” [1]`);
});

test("says so where nothing matches, and where there are no sources", async () => {
  expect(textOf(await events([sources("Cats sleep a lot."), user("quantum chromodynamics")]))).toMatch(
    /nothing was found in the documents that answers the question/,
  );
  expect(textOf(await events([user("hello")]))).toMatch(/No language model is configured/);
});

test("asks for a search with the user's question if it may, and quotes what was found", async () => {
  const asked = await events(
    [{ role: "system", content: "You help." }, user("How long does the warranty last?")],
    { tools: SEARCH },
  );
  expect(asked).toMatchObject([
    {
      type: "tool_calls",
      calls: [
        {
          name: "knowledge_search",
          arguments: JSON.stringify({ query: "How long does the warranty last?" }),
        },
      ],
    },
    { type: "finish", reason: "tool_calls" },
  ]);
  const calls = asked[0]?.type === "tool_calls" ? asked[0].calls : [];
  const found: ChatMessage = {
    ...sources("The warranty lasts two years."),
    role: "tool",
    tool_call_id: calls[0]!.id,
  };
  const answered = await events(
    [user("How long does the warranty last?"), { role: "assistant", content: "", tool_calls: calls }, found],
    { tools: SEARCH },
  );
  expect(textOf(answered)).toContain("“The warranty lasts two years.” [1]");
});

test("every mark is the number of a source that has the sentence, whatever their order", async () => {
  const message: ChatMessage = {
    role: "tool",
    content:
      "<<<SOURCES\n[7] a.md\nThe pump needs oil each week.\n\n" +
      "[3] b.md\nThe pump was painted green in spring.\nSOURCES>>>",
  };
  const text = textOf(await events([user("pump oil"), message]));
  expect(text).toContain("“The pump needs oil each week.” [7]");
  expect(text).not.toMatch(/oil each week.” \[3\]/);
});

test("bounds a sentence without an end", async () => {
  const text = textOf(
    await events([sources(`warranty ${"and more words ".repeat(2_000)}`), user("warranty")]),
  );
  expect(text.length).toBeLessThan(600);
  expect(text).toContain("…” [1]");
});

test("stops once it is aborted", async () => {
  const abort = new AbortController();
  const reading = (async () => {
    for await (const _ of model.stream({ model: "", messages: [user("hello")] }, abort.signal)) abort.abort();
  })();
  await expect(reading).rejects.toMatchObject({ name: "AbortError" });
});
