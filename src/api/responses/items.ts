/** The items of a response and the response itself, in the form of OpenAI's interface. */
import type { ProvenMark } from "../../agents/quotes/evidence.ts";
import type { FoundHit } from "../turns/response-ask.ts";

type ItemStatus = "in_progress" | "completed" | "incomplete";
export type ResponseStatus = "queued" | "in_progress" | "completed" | "failed" | "cancelled" | "incomplete";

export interface FileCitation extends Omit<ProvenMark, "index" | "start" | "end"> {
  readonly type: "file_citation";
  readonly file_id: string;
  readonly filename: string;
  /** Where the mark [n] begins in the text, in UTF-16 units. */
  readonly index: number;
  /** The n of the mark. */
  readonly number: number;
  readonly start_index: number;
  readonly end_index: number;
  readonly document_id: string;
  readonly document_name: string;
  readonly chunk_id: string;
  readonly chunk_index: number;
  readonly page: number | null;
}

export interface OutputText {
  readonly type: "output_text";
  text: string;
  annotations: readonly FileCitation[];
  readonly logprobs: readonly never[];
}

export interface MessageItem {
  readonly type: "message";
  readonly id: string;
  status: ItemStatus;
  readonly role: "assistant";
  readonly content: OutputText[];
}

export interface FunctionCallItem {
  readonly type: "function_call";
  readonly id: string;
  status: ItemStatus;
  readonly call_id: string;
  readonly name: string;
  arguments: string;
}

export interface SearchResult {
  readonly file_id: string;
  readonly filename: string;
  readonly score: number;
  readonly text: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly document_id: string;
  readonly chunk_id: string;
  readonly chunk_index: number;
  readonly page: number | null;
}

export interface SearchItem {
  readonly type: "file_search_call";
  readonly id: string;
  status: "in_progress" | "searching" | "completed" | "incomplete" | "failed";
  readonly queries: readonly string[];
  /** Always kept; shown where the request includes them. */
  results: readonly SearchResult[] | null;
}

export type OutputItem = MessageItem | FunctionCallItem | SearchItem;

export interface ResponseUsage {
  readonly input_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens: number; readonly cache_write_tokens: number };
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly reasoning_tokens: number };
  readonly total_tokens: number;
}

/** The fields that repeat the request, the same in all states of a response. */
export interface ResponseEcho {
  readonly instructions: string | null;
  readonly max_output_tokens: number | null;
  readonly max_tool_calls: number | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly model: string;
  readonly parallel_tool_calls: boolean;
  readonly previous_response_id: string | null;
  readonly prompt_cache_key: string | null;
  readonly prompt_cache_retention: string | null;
  readonly reasoning: { readonly effort: string | null; readonly summary: string | null };
  readonly safety_identifier: string | null;
  readonly service_tier: string;
  readonly store: boolean;
  readonly temperature: number;
  readonly text: Readonly<Record<string, unknown>>;
  readonly tool_choice: unknown;
  readonly tools: readonly unknown[];
  readonly top_logprobs: number;
  readonly top_p: number;
  readonly truncation: "auto" | "disabled";
  readonly user: string | null;
}

export interface ResponseObject extends ResponseEcho {
  readonly id: string;
  readonly object: "response";
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly status: ResponseStatus;
  readonly background: boolean;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly incomplete_details: { readonly reason: string } | null;
  readonly output: readonly OutputItem[];
  readonly usage: ResponseUsage | null;
  /** The code of the outage that it waits for. */
  readonly waiting_for?: string;
}

/** An event as it is sent: its type, its number, and what it is about. */
export interface ResponseEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly [field: string]: unknown;
}

const HEX_OF_ID = /-/g;

/** `resp_` and the digits of the UUID. */
export const itemId = (prefix: string, uuid: string): string => `${prefix}_${uuid.replaceAll(HEX_OF_ID, "")}`;

/** The UUID of an item that a response made; null for other ids. */
export function uuidOfItem(id: string): string | null {
  const digits = /^[a-z]+_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(id);
  return digits === null ? null : digits.slice(1).join("-");
}

export const fileIdOf = (documentId: string): string => `file-${documentId.replaceAll(HEX_OF_ID, "")}`;

export function searchResultOf(hit: FoundHit): SearchResult {
  return {
    file_id: fileIdOf(hit.fileId),
    filename: hit.document_name,
    score: hit.score,
    text: hit.text,
    attributes: hit.attributes,
    document_id: hit.document_id,
    chunk_id: hit.chunk_id,
    chunk_index: hit.chunk_index,
    page: hit.metadata.page_start,
  };
}

/** The items as a caller sees them: results of searches are there for those who asked for them. */
export function shownItems(items: readonly OutputItem[], withResults: boolean): readonly OutputItem[] {
  return items.map((item) => shownItem(item, withResults));
}

export function shownItem(item: OutputItem, withResults: boolean): OutputItem {
  return item.type === "file_search_call" && !withResults ? { ...item, results: null } : item;
}
