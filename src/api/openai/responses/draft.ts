/** A response as it comes about: turns what happens in a turn into items and the published events. */
import { newId } from "../../../domain/ids.ts";
import type { ToolCall } from "../../../domain/work/turn.ts";
import type { SearchProgress } from "../../turns/response-ask.ts";
import type { Completed, TurnResult } from "../../turns/turn.ts";
import { annotationOf, errorOf, incompleteReason, usageOf } from "./ends.ts";
import {
  type FunctionCallItem,
  type MessageItem,
  type OutputItem,
  type OutputText,
  type ResponseEcho,
  type ResponseEvent,
  type ResponseObject,
  type ResponseStatus,
  type SearchItem,
  itemId,
  searchResultOf,
  shownItem,
  shownItems,
} from "./items.ts";

export interface DraftHead {
  /** A UUID. */
  readonly id: string;
  readonly createdAt: number;
  readonly echo: ResponseEcho;
  readonly isBackground: boolean;
  /** Whether events show what searches have found. */
  readonly showsResults: boolean;
  readonly showsCitations: boolean;
  /** By documents, of searches before. */
  readonly fileIds?: ReadonlyMap<string, string> | undefined;
}

/** What a process that is gone has written. */
export interface DraftStart {
  readonly nextNo: number;
  readonly items: readonly OutputItem[];
}

/** The part of a message that is being written. */
interface OpenMessage {
  readonly item: MessageItem;
  readonly text: OutputText;
  readonly index: number;
}

type Send = (event: ResponseEvent) => Promise<void> | undefined;

export class ResponseDraft {
  readonly #head: DraftHead;
  readonly #send: Send;
  readonly #items: OutputItem[];
  /** The messages of this attempt, with where their text begins in the text of the turn. */
  readonly #messages: { readonly text: OutputText; readonly from: number }[] = [];
  readonly #searches = new Map<string, { readonly item: SearchItem; readonly index: number }>();
  readonly #fileIds: Map<string, string>;
  #open: OpenMessage | undefined;
  #written = 0;
  #nextNo: number;
  #status: ResponseStatus = "in_progress";
  #result: TurnResult | undefined;
  #completedAt: number | null = null;

  constructor(head: DraftHead, send: Send, start: DraftStart = { nextNo: 0, items: [] }) {
    this.#head = head;
    this.#send = send;
    this.#nextNo = start.nextNo;
    this.#items = [...start.items];
    this.#fileIds = new Map(head.fileIds);
  }

  /** The response as its reader sees it now. */
  get response(): ResponseObject {
    return { ...this.kept, output: shownItems(this.#items, this.#head.showsResults) };
  }

  /** The response with everything that is kept of it. */
  get kept(): ResponseObject {
    const { id, createdAt, echo, isBackground } = this.#head;
    const result = this.#result;
    return {
      id: itemId("resp", id),
      object: "response",
      created_at: createdAt,
      completed_at: this.#completedAt,
      status: this.#status,
      background: isBackground,
      error: result?.status === "failed" ? errorOf(result.error) : null,
      incomplete_details: this.#status === "incomplete" ? { reason: incompleteReason(result) } : null,
      ...echo,
      output: this.#items,
      usage: result?.status === "completed" ? usageOf(result) : null,
    };
  }

  /** The events before the first item. */
  begin(): void {
    if (this.#head.isBackground && this.#nextNo === 0) {
      this.#status = "queued";
      this.#lifecycle("response.created");
      this.#lifecycle("response.queued");
      this.#status = "in_progress";
    } else if (this.#nextNo === 0) this.#lifecycle("response.created");
    this.#lifecycle("response.in_progress");
  }

  /** Closes what a process that is gone has left open. The items that follow are a new beginning. */
  closeBroken(): void {
    for (const [index, item] of this.#items.entries()) {
      if (item.status === "completed" || item.status === "incomplete" || item.status === "failed") continue;
      if (item.type === "message") this.#closeParts(item, index, "incomplete");
      else this.#itemDone(item, index, "incomplete");
    }
  }

  text(piece: string): Promise<void> | undefined {
    const message = this.#open ?? this.#openMessage();
    // The paragraphs of a turn are messages of their own here.
    const isFirst = message.text.text === "";
    const delta = isFirst && this.#written > 0 ? piece.replace(/^\n\n/, "") : piece;
    if (isFirst)
      this.#messages.push({ text: message.text, from: this.#written + piece.length - delta.length });
    this.#written += piece.length;
    message.text.text += delta;
    if (delta === "") return undefined;
    return this.#emit("response.output_text.delta", {
      item_id: message.item.id,
      output_index: message.index,
      content_index: 0,
      delta,
      logprobs: [],
    });
  }

  search({ callId, queries, hits }: SearchProgress): void {
    const begun = this.#searches.get(callId);
    if (hits === undefined) return this.#beginSearch(callId, queries);
    if (begun === undefined) return;
    const { item, index } = begun;
    item.results = hits.map(searchResultOf);
    for (const { document_id, file_id } of item.results) this.#fileIds.set(document_id, file_id);
    void this.#emit("response.file_search_call.completed", { item_id: item.id, output_index: index });
    this.#itemDone(item, index, "completed");
    this.#searches.delete(callId);
  }

  /** The last events. */
  finish(result: TurnResult): void {
    this.#result = result;
    if (result.status === "completed") this.#finishWhole(result);
    else this.#finishBroken(result);
    if (this.#status === "completed") this.#completedAt = Math.floor(Date.now() / 1_000);
    // There is no event of a cancel: a stream that is cut by one just ends.
    if (this.#status !== "cancelled") this.#lifecycle(`response.${this.#status}`);
  }

  #finishWhole(result: Completed): void {
    const isCut = result.finishReason === "length" || result.finishReason === "content_filter";
    this.#annotate(result);
    // An answer of nothing is a message too, unless it is calls.
    if (this.#messages.length === 0 && this.#open === undefined && result.functionCalls === undefined)
      this.#openMessage();
    this.#closeMessage(isCut ? "incomplete" : "completed");
    for (const call of result.functionCalls ?? []) this.#functionCall(call);
    this.#status = isCut ? "incomplete" : "completed";
  }

  #finishBroken(result: TurnResult): void {
    this.#closeMessage("incomplete");
    for (const { item, index } of this.#searches.values()) this.#itemDone(item, index, "failed");
    this.#status = result.status === "cancelled" ? "cancelled" : "failed";
  }

  #openMessage(): OpenMessage {
    const text: OutputText = { type: "output_text", text: "", annotations: [], logprobs: [] };
    const item: MessageItem = {
      type: "message",
      id: itemId("msg", newId()),
      status: "in_progress",
      role: "assistant",
      content: [],
    };
    const index = this.#add(item);
    item.content.push(text);
    void this.#emit("response.content_part.added", {
      item_id: item.id,
      output_index: index,
      content_index: 0,
      part: { ...text },
    });
    this.#open = { item, text, index };
    return this.#open;
  }

  #closeMessage(status: "completed" | "incomplete"): void {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined) this.#closeParts(open.item, open.index, status);
  }

  #closeParts(item: MessageItem, index: number, status: "completed" | "incomplete"): void {
    for (const [at, text] of item.content.entries()) {
      const place = { item_id: item.id, output_index: index, content_index: at };
      for (const [number, annotation] of text.annotations.entries())
        void this.#emit("response.output_text.annotation.added", {
          ...place,
          annotation_index: number,
          annotation,
        });
      void this.#emit("response.output_text.done", { ...place, text: text.text, logprobs: [] });
      void this.#emit("response.content_part.done", { ...place, part: text });
    }
    this.#itemDone(item, index, status);
  }

  #beginSearch(callId: string, queries: readonly string[]): void {
    this.#closeMessage("completed");
    const item: SearchItem = {
      type: "file_search_call",
      id: itemId("fs", newId()),
      status: "in_progress",
      queries,
      results: null,
    };
    const index = this.#add(item);
    const place = { item_id: item.id, output_index: index };
    void this.#emit("response.file_search_call.in_progress", place);
    item.status = "searching";
    void this.#emit("response.file_search_call.searching", place);
    this.#searches.set(callId, { item, index });
  }

  #functionCall({ id, name, arguments: text }: ToolCall): void {
    const item: FunctionCallItem = {
      type: "function_call",
      id: itemId("fc", newId()),
      status: "in_progress",
      call_id: id,
      name,
      arguments: "",
    };
    const index = this.#add(item);
    const place = { item_id: item.id, output_index: index };
    item.arguments = text ?? "{}";
    void this.#emit("response.function_call_arguments.delta", { ...place, delta: item.arguments });
    void this.#emit("response.function_call_arguments.done", { ...place, name, arguments: item.arguments });
    this.#itemDone(item, index, "completed");
  }

  #annotate(result: Completed): void {
    if (!this.#head.showsCitations) return;
    const byIndex = new Map(result.citations.map((citation) => [citation.index, citation]));
    const marks = result.marks;
    for (const [at, { text, from }] of this.#messages.entries()) {
      const until = this.#messages[at + 1]?.from ?? Infinity;
      text.annotations = marks
        .filter(({ start }) => start >= from && start < until)
        .flatMap((mark) => {
          const citation = byIndex.get(mark.index);
          return citation === undefined
            ? []
            : [annotationOf(citation, mark, { from, fileIds: this.#fileIds })];
        });
    }
  }

  #add(item: OutputItem): number {
    const index = this.#items.push(item) - 1;
    void this.#emit("response.output_item.added", {
      output_index: index,
      item: item.type === "message" ? { ...item, content: [] } : { ...shownItem(item, false) },
    });
    return index;
  }

  #itemDone(item: OutputItem, index: number, status: OutputItem["status"]): void {
    item.status = status;
    void this.#emit("response.output_item.done", {
      output_index: index,
      item: shownItem(item, this.#head.showsResults),
    });
  }

  #lifecycle(type: string): void {
    void this.#emit(type, { response: this.response });
  }

  #emit(type: string, fields: Readonly<Record<string, unknown>>): Promise<void> | undefined {
    const event = { type, sequence_number: this.#nextNo, ...fields };
    this.#nextNo += 1;
    return this.#send(event);
  }
}
