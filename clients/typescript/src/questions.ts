/** Searches spaces, and asks agents. */
import type { Client } from "openapi-fetch";
import { type Persistence, newKey, persist } from "./requests.ts";
import type { components, paths } from "./schema.ts";

type Schemas = components["schemas"];
type Filters = Readonly<Record<string, unknown>>;

interface SearchFields {
  readonly query: string;
  /** The language of `POST /v1/data/search`: `{ file_type: "PDF", "doc_metadata.year__gte": 2024 }`. */
  readonly filters?: Filters;
  readonly documentId?: string;
  readonly documentIds?: readonly string[];
  readonly folderId?: string;
  readonly folderIds?: readonly string[];
  /** 1 to 100; 10 by default. */
  readonly limit?: number;
  /** 0 to 1: leaves out what scores lower. */
  readonly minScore?: number;
  readonly maxChunksPerDocument?: number;
  /** `false` leaves the service's reranker out; `"model"` has its chat model rerank, which costs tokens. */
  readonly rerank?: boolean | "model";
  /** 0 to 3: chunks on either side that each result brings as its `context`. */
  readonly context?: number;
  /** Ends the request. */
  readonly signal?: AbortSignal;
}

interface OneSpace {
  readonly spaceId: string;
  readonly spaceIds?: never;
}

interface SeveralSpaces {
  /** Up to 20, in one ranking. */
  readonly spaceIds: readonly string[];
  readonly spaceId?: never;
}

export type SearchOptions = SearchFields & (OneSpace | SeveralSpaces);

interface AskFields {
  /** The id of an agent. */
  readonly agent: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
  /** Ends the request. */
  readonly signal?: AbortSignal;
}

interface OneQuestion {
  readonly question: string;
  readonly messages?: never;
}

interface Conversation {
  /** The whole conversation, whose last message is the question. */
  readonly messages: readonly Schemas["ChatMessage"][];
  readonly question?: never;
}

export type AskOptions = AskFields & (OneQuestion | Conversation);

export interface Answer {
  readonly text: string;
  /** The sources that the answer cites, each with the number of its mark `[n]`. */
  readonly citations: readonly Schemas["Citation"][];
  /** The places of the marks in the text. */
  readonly annotations: readonly Schemas["Annotation"][];
  readonly usage: Schemas["Usage"];
}

export async function search(
  api: Client<paths>,
  options: SearchOptions,
  persistence: Persistence,
): Promise<Schemas["SearchResults"]> {
  const { query, filters, limit, signal } = options;
  // JSON leaves out what is undefined.
  const body = {
    query,
    filters,
    limit,
    space_id: options.spaceId,
    space_ids: options.spaceIds,
    document_id: options.documentId,
    document_ids: options.documentIds,
    folder_id: options.folderId,
    folder_ids: options.folderIds,
    min_score: options.minScore,
    max_chunks_per_document: options.maxChunksPerDocument,
    rerank: options.rerank,
    context: options.context,
  } as Schemas["HybridSearch"];
  return persist((ended) => api.POST("/v1/data/hybrid-search", { body, signal: ended }), {
    ...persistence,
    signal,
  });
}

/** Sends a question, and again after a fault with the same Idempotency-Key: it is answered and paid once. */
export async function ask(
  api: Client<paths>,
  { agent, question, messages, temperature, maxTokens, signal }: AskOptions,
  persistence: Persistence,
): Promise<Answer> {
  const key = newKey();
  const body = {
    model: agent,
    messages: messages ?? [{ role: "user", content: question }],
    temperature,
    max_tokens: maxTokens,
  } as Schemas["ChatCompletionRequest"];
  const completion = await persist<unknown>(
    (ended) => api.POST("/v1/chat/completions", { body, headers: { "Idempotency-Key": key }, signal: ended }),
    { ...persistence, signal },
  );
  // Only a request with `stream` is answered otherwise.
  const { choices, citations, usage } = completion as Schemas["ChatCompletion"];
  const message = choices[0]?.message;
  return {
    text: message?.content ?? "",
    citations: citations ?? [],
    annotations: message?.annotations ?? [],
    usage,
  };
}
