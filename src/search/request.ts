/** What a search is asked and what it answers. */
import type { Neighbourhood } from "../db/search/neighbours.ts";
import type { FileType } from "../domain/file-type.ts";
import type { Clause } from "../domain/requests/conditions.ts";
import type { Scores } from "../domain/fusion.ts";
import type { Location } from "../domain/locations/location.ts";
import type { PackedPlaces } from "../domain/locations/packed.ts";
import type { ChunkMetadata } from "../domain/text-unit.ts";

export const DEFAULT_LIMIT = 10;
/** Hits of any request. */
export const MAX_LIMIT = 100;

/** Chunks of a hit's context on either side. */
export const MAX_NEIGHBOURS = 3;

export interface SearchRequest {
  readonly query: string;
  /** 1 to 100; {@link DEFAULT_LIMIT} if absent. */
  readonly limit?: number | undefined;
  /** Null is no filter; an empty list lets nothing through. */
  readonly document_ids?: readonly string[] | null | undefined;
  /** As for documents; a folder stands for all folders in it too. */
  readonly folder_ids?: readonly string[] | null | undefined;
  /** Conditions on the fields of documents, all of which must hold. */
  readonly filters?: readonly Clause[] | undefined;
  /** How much of a score is by meaning, 0 to 1; what was measured for the model if absent. */
  readonly alpha?: number | undefined;
  readonly min_score?: number | null | undefined;
  readonly max_chunks_per_document?: number | null | undefined;
  /** False leaves the reranker out; `model` has the chat model rerank in its place. */
  readonly rerank?: boolean | "model" | undefined;
  /** Chunks on either side that each hit brings, at most {@link MAX_NEIGHBOURS}; none if absent. */
  readonly context?: number | undefined;
}

type HitMetadata = ChunkMetadata & {
  readonly page_start: number | null;
  readonly page_end: number | null;
  /** UTF-16 offsets [start, end) of the query's words in the text. */
  readonly highlights: [number, number][];
  readonly rerank_score?: number;
};

export interface SearchHit extends Scores {
  readonly chunk_id: string;
  readonly document_id: string;
  readonly space_id: string;
  readonly document_name: string;
  readonly file_type: FileType;
  readonly folder_path: string | null;
  readonly chunk_index: number;
  readonly text: string;
  readonly metadata: HitMetadata;
  /** UTF-16 offsets in the document as Markdown; absent if unknown. */
  readonly start?: number;
  readonly end?: number;
  readonly places: PackedPlaces | null;
  /** What stands beside it in its document; absent if it was not asked for, or could not be read any more. */
  readonly context?: Neighbourhood;
}

/** A hit as callers see it. */
export type LocatedHit = Omit<SearchHit, "places"> & { readonly locations?: readonly Location[] };

export type SearchWarning = "dense_unavailable" | "language_unknown" | RerankWarning;
/** Why hits are in the order of their scores although they were to be reranked. */
export type RerankWarning = "rerank_unavailable" | "rerank_over_budget";

export interface SearchAnswer {
  readonly results: SearchHit[];
  /** Whether even the best of them is about something else, as far as the model can tell. */
  readonly isUnrelated?: boolean;
  /**
   * Set if the query could not be embedded, so that results are ranked by their words only; if they could not
   * be reranked; or if a model hardly knows the language, so that words count almost alone.
   */
  readonly warning?: SearchWarning;
}
