/** Turns the items of a conversation into what the model reads. */
import type { Passage } from "../../../domain/work/turn.ts";
import type { ChatMessage, ContentPart } from "../../../models/chat/chat-model.ts";
import type { KeptItem } from "./input.ts";
import type { SearchResult } from "./items.ts";

type Given = Readonly<Record<string, unknown>>;

const stringOrEmpty = (value: unknown): string => (typeof value === "string" ? value : "");

function resultsOf(items: readonly KeptItem[]): readonly SearchResult[] {
  return items.flatMap((item) =>
    item.type === "file_search_call" && Array.isArray(item["results"])
      ? (item["results"] as readonly SearchResult[])
      : [],
  );
}

/** Ids of files by documents, of what the searches among the items have found. */
export function fileIdsOf(items: readonly KeptItem[]): ReadonlyMap<string, string> {
  return new Map(resultsOf(items).map((result) => [result.document_id, result.file_id]));
}

/** What the searches among the items have found, each passage once. */
export function passagesOf(items: readonly KeptItem[]): Passage[] {
  const results = resultsOf(items);
  const byChunk = new Map(results.map((result) => [result.chunk_id, result]));
  return [...byChunk.values()].map((result) => ({
    chunk_id: result.chunk_id,
    document_id: result.document_id,
    document_name: result.filename,
    chunk_index: result.chunk_index,
    page: result.page,
    text: result.text,
  }));
}

export function messagesOf(items: readonly KeptItem[]): ChatMessage[] {
  const messages: ChatMessage[] = [];
  for (const item of items) {
    const given = item as Given;
    if (item.type === "message") messages.push(...messageOf(given));
    else if (item.type === "function_call") addCall(messages, given);
    else if (item.type === "function_call_output")
      messages.push({
        role: "tool",
        tool_call_id: stringOrEmpty(given["call_id"]),
        content: outputText(given["output"]),
      });
  }
  return withEveryAnswer(messages);
}

/** Calls that follow each other were made by one message of the model. */
function addCall(messages: ChatMessage[], given: Given): void {
  const call = {
    id: stringOrEmpty(given["call_id"]),
    name: stringOrEmpty(given["name"]),
    arguments: stringOrEmpty(given["arguments"]),
  };
  const last = messages.at(-1);
  const joins = last?.role === "assistant";
  const before = joins ? (last.tool_calls ?? []) : [];
  const content = joins ? last.content : "";
  if (joins) messages.pop();
  messages.push({ role: "assistant", content, tool_calls: [...before, call] });
}

/** Providers refuse a call without an output, which a client may never have sent, and misplaced outputs. */
function withEveryAnswer(messages: readonly ChatMessage[]): ChatMessage[] {
  const outputs = new Map(
    messages.flatMap((message) =>
      message.role === "tool" ? [[message.tool_call_id, message] as const] : [],
    ),
  );
  return messages.flatMap((message): ChatMessage[] => {
    if (message.role === "tool") return [];
    const calls = message.tool_calls ?? [];
    return [
      message,
      ...calls.map(
        ({ id }): ChatMessage =>
          outputs.get(id) ?? { role: "tool", tool_call_id: id, content: "(no output was given)" },
      ),
    ];
  });
}

function messageOf({ role, content }: Given): ChatMessage[] {
  const parts = content as readonly Given[];
  const text = parts
    .map(textOfPart)
    .filter((one) => one !== "")
    .join("\n");
  if (role === "assistant") return text === "" ? [] : [{ role: "assistant", content: text }];
  if (role !== "user") return [{ role: "system", content: text }];
  const images = parts.flatMap((part) => (part["type"] === "input_image" ? [imageOf(part)] : []));
  if (images.length === 0) return [{ role: "user", content: text }];
  return [{ role: "user", content: text === "" ? images : [{ type: "text", text }, ...images] }];
}

function textOfPart(part: Given): string {
  if (part["type"] === "input_image") return "";
  if (part["type"] !== "input_file") return stringOrEmpty(part["text"] ?? part["refusal"]);
  const name = stringOrEmpty(part["filename"] ?? part["file_id"] ?? "file");
  return `File ${JSON.stringify(name)}:\n${stringOrEmpty(part["text"])}`;
}

function imageOf(part: Given): ContentPart {
  const { detail } = part;
  return {
    type: "image_url",
    image_url: { url: stringOrEmpty(part["image_url"]), ...(typeof detail === "string" ? { detail } : {}) },
  };
}

function outputText(output: unknown): string {
  if (typeof output === "string") return output;
  return (output as readonly Given[])
    .map(textOfPart)
    .filter((one) => one !== "")
    .join("\n");
}
