/** The events of a response tell the same as the response, from its first process and from the next one. */
import { describe, expect, it } from "vitest";
import { type DraftHead, ResponseDraft } from "../../../../src/api/openai/responses/draft.ts";
import { eventsOf, foldEvents } from "../../../../src/api/openai/responses/fold.ts";
import type { ResponseEvent } from "../../../../src/api/openai/responses/items.ts";
import type { Completed } from "../../../../src/api/turns/turn.ts";
import { newId } from "../../../../src/domain/ids.ts";

const HEAD = {
  id: newId(),
  createdAt: 1_790_000_000,
  echo: { model: "m" },
  isBackground: false,
  showsResults: true,
  showsCitations: true,
} as unknown as DraftHead;

const DOCUMENT = newId();
const citation = {
  index: 1,
  document_id: DOCUMENT,
  document_name: "a.md",
  chunk_id: newId(),
  chunk_index: 0,
  page: null,
  text: "All of it.",
};
const done = (more: Partial<Completed> = {}): Completed => ({
  status: "completed",
  finishReason: "stop",
  usage: { prompt_tokens: 3, completion_tokens: 2 },
  citations: [],
  marks: [],
  ...more,
});

function record(start?: ConstructorParameters<typeof ResponseDraft>[2]) {
  const events: ResponseEvent[] = [];
  const draft = new ResponseDraft(
    HEAD,
    (event) => void events.push(JSON.parse(JSON.stringify(event)) as ResponseEvent),
    start,
  );
  return { draft, events };
}

describe("a response that comes about", () => {
  it("has the same items by its events, and by events that are made of it again", () => {
    const { draft, events } = record();
    draft.begin();
    void draft.text("Let me look.");
    draft.search({ callId: "1", queries: ["it"] });
    draft.search({ callId: "1", queries: ["it"], hits: [] });
    void draft.text("\n\nIt is so [1].");
    draft.finish(done({ citations: [citation], marks: [{ index: 1, start: 23, end: 26, quote: "All" }] }));
    expect(draft.kept.output).toMatchObject([
      { type: "message", content: [{ text: "Let me look.", annotations: [] }] },
      { type: "file_search_call", status: "completed", queries: ["it"], results: [] },
      {
        type: "message",
        content: [{ text: "It is so [1].", annotations: [{ index: 9, end_index: 12, quote: "All" }] }],
      },
    ]);
    expect(foldEvents(events)).toEqual({ nextNo: events.length, items: draft.kept.output });
    const again = eventsOf(draft.kept);
    expect(foldEvents(again).items).toEqual(draft.kept.output);
    expect(again.at(-1)).toEqual({ ...events.at(-1), sequence_number: again.length - 1 });
  });

  it("goes on behind the events of a process that was lost in the middle of a word", () => {
    const first = record();
    first.draft.begin();
    void first.draft.text("Half a wo");
    const second = record(foldEvents(first.events));
    second.draft.closeBroken();
    void second.draft.text("A whole one.");
    second.draft.finish(done());
    const all = [...first.events, ...second.events];
    expect(all.map(({ sequence_number: number }) => number)).toEqual(all.map((_, index) => index));
    expect(second.draft.response).toMatchObject({
      status: "completed",
      output: [
        { status: "incomplete", content: [{ text: "Half a wo" }] },
        { status: "completed", content: [{ text: "A whole one." }] },
      ],
    });
    expect(foldEvents(all).items).toEqual(second.draft.kept.output);
  });

  it("has an empty message if the model said nothing, and none if it called functions", () => {
    const silent = record();
    silent.draft.finish(done());
    expect(silent.draft.response.output).toMatchObject([{ type: "message", content: [{ text: "" }] }]);
    const calling = record();
    calling.draft.finish(done({ functionCalls: [{ id: "c", name: "f", arguments: null }] }));
    expect(calling.draft.response.output).toMatchObject([{ type: "function_call", arguments: "{}" }]);
  });
});
