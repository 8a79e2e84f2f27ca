/** Puts a response together from its events, and makes the events of one that was kept without them. */
import type { DraftStart } from "./draft.ts";
import type { OutputItem, OutputText, ResponseEvent, ResponseObject } from "./items.ts";

/** What the events have written so far. */
export function foldEvents(events: readonly ResponseEvent[]): DraftStart {
  const items: OutputItem[] = [];
  let nextNo = 0;
  for (const event of events) {
    nextNo = event.sequence_number + 1;
    const at = event.output_index!;
    if (event.type === "response.output_item.added" || event.type === "response.output_item.done")
      items[at] = structuredClone(event.item) as OutputItem;
    else if (event.type === "response.content_part.added") textsOf(items[at]).push({ ...event.part! });
    else if (event.type === "response.output_text.delta") {
      const part = textsOf(items[at])[0];
      if (part !== undefined) part.text += event.delta;
    } else if (event.type === "response.output_text.annotation.added") {
      const part = textsOf(items[at])[0];
      if (part !== undefined) part.annotations = [...part.annotations, event.annotation!];
    }
  }
  return { nextNo, items };
}

function textsOf(item: OutputItem | undefined): OutputText[] {
  return item?.type === "message" ? item.content : [];
}

const ENDS = new Set(["response.completed", "response.incomplete", "response.failed"]);

/** Whether no event comes after this one. */
export const isLast = ({ type }: ResponseEvent): boolean => ENDS.has(type);

/** The events of a response that has ended, as its first reader may have seen them. */
export function eventsOf(response: ResponseObject): ResponseEvent[] {
  const events: ResponseEvent[] = [];
  const add = (type: string, fields: Readonly<Record<string, unknown>>): void => {
    events.push({ type, sequence_number: events.length, ...fields });
  };
  const begun = {
    ...response,
    status: "in_progress",
    completed_at: null,
    error: null,
    incomplete_details: null,
    output: [],
    usage: null,
  };
  add("response.created", { response: begun });
  add("response.in_progress", { response: begun });
  for (const [index, item] of response.output.entries()) addItem(add, item, index);
  if (response.status !== "cancelled") add(`response.${response.status}`, { response });
  return events;
}

type Add = (type: string, fields: Readonly<Record<string, unknown>>) => void;

function addItem(add: Add, item: OutputItem, index: number): void {
  const place = { item_id: item.id, output_index: index };
  const begun = { ...item, status: "in_progress" };
  if (item.type === "message") {
    add("response.output_item.added", { output_index: index, item: { ...begun, content: [] } });
    for (const [at, part] of item.content.entries()) addPart(add, { ...place, content_index: at }, part);
  } else if (item.type === "function_call") {
    add("response.output_item.added", { output_index: index, item: { ...begun, arguments: "" } });
    add("response.function_call_arguments.delta", { ...place, delta: item.arguments });
    add("response.function_call_arguments.done", { ...place, name: item.name, arguments: item.arguments });
  } else {
    add("response.output_item.added", { output_index: index, item: { ...begun, results: null } });
    add("response.file_search_call.in_progress", place);
    add("response.file_search_call.searching", place);
    if (item.status === "completed") add("response.file_search_call.completed", place);
  }
  add("response.output_item.done", { output_index: index, item });
}

function addPart(add: Add, place: Readonly<Record<string, unknown>>, part: OutputText): void {
  add("response.content_part.added", { ...place, part: { ...part, text: "", annotations: [] } });
  if (part.text !== "") add("response.output_text.delta", { ...place, delta: part.text, logprobs: [] });
  for (const [number, annotation] of part.annotations.entries())
    add("response.output_text.annotation.added", { ...place, annotation_index: number, annotation });
  add("response.output_text.done", { ...place, text: part.text, logprobs: [] });
  add("response.content_part.done", { ...place, part });
}
