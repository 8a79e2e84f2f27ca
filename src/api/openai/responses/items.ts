/** The items of a response and the response itself, in the form of OpenAI's interface. */
import type { z } from "zod";
import type * as contract from "../../../schema/openai/response.ts";
import type { FoundHit } from "../../turns/response-ask.ts";

/** What the contract says of `T`, for values that nobody changes. */
type Kept<T> = T extends readonly (infer Item)[]
  ? readonly Kept<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Kept<T[Key]> }
    : T;

/** The same, whose fields are set as it comes about. */
type Drafted<T> = { [Key in keyof T]: Kept<T[Key]> };

export type FileCitation = Kept<z.output<typeof contract.FileCitation>>;
export type SearchResult = Kept<z.output<typeof contract.SearchResult>>;
export type ResponseUsage = Kept<z.output<typeof contract.ResponseUsage>>;
export type OutputText = Drafted<z.output<typeof contract.OutputText>>;
export type MessageItem = Omit<Drafted<z.output<typeof contract.Message>>, "content"> & {
  readonly content: OutputText[];
};
export type FunctionCallItem = Drafted<z.output<typeof contract.FunctionCall>>;
/** Its results are always kept, and shown if the request includes them. */
export type SearchItem = Drafted<z.output<typeof contract.FileSearchCall>>;
export type OutputItem = MessageItem | FunctionCallItem | SearchItem;

export type ResponseObject = Omit<Kept<z.output<typeof contract.ResponseAnswer>>, "output"> & {
  readonly output: readonly OutputItem[];
};
export type ResponseStatus = ResponseObject["status"];
export type ResponseEcho = Kept<z.output<typeof contract.ResponseEcho>>;
/** An event as it is sent: its type, its number, and what it is about. */
export type ResponseEvent = Kept<z.output<typeof contract.ResponseStreamEvent>>;

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
