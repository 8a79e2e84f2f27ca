/** SQL that reads the published chunks that an answer cites. */
import type { PackedPlaces } from "../../domain/locations/packed.ts";
import type { ChunkMetadata } from "../../domain/text-unit.ts";
import type { Passage } from "../../domain/work/turn.ts";
import type { Sql } from "../pool.ts";
import { type ReadScope, VISIBLE } from "./passages.ts";

export interface CitedChunk {
  readonly chunk_id: string;
  readonly space_id: string;
  readonly document_version: number;
  readonly text: string;
  /** UTF-16 offsets in the document as Markdown; null if they are unknown. */
  readonly start_offset: number | null;
  readonly end_offset: number | null;
  readonly places: PackedPlaces | null;
  readonly metadata: ChunkMetadata;
}

/**
 * Returns the chunks with these ids that are published and in the scope, as the agents' tools see it. Leaves
 * out chunks of a version that was replaced.
 */
export async function readCitedChunks(
  sql: Sql,
  scope: ReadScope,
  cited: readonly Pick<Passage, "chunk_id" | "document_id" | "chunk_index">[],
): Promise<Map<string, CitedChunk>> {
  const { rows } = await sql.query<CitedChunk>({
    name: "chunks that are cited",
    text: `${VISIBLE}
     select chunk.id as chunk_id,
            document.space_id,
            document.published_version as document_version,
            chunk.text,
            chunk.start_offset,
            chunk.end_offset,
            chunk.places,
            chunk.metadata
     from unnest($3::uuid[], $4::int[], $5::uuid[]) wanted(document_id, chunk_index, chunk_id)
     join visible document on document.id = wanted.document_id
     join chunks chunk
       on chunk.run_num = document.published_run_num
      and chunk.chunk_index = wanted.chunk_index
      and chunk.id = wanted.chunk_id`,
    values: [
      scope.spaceIds,
      scope.folderIds,
      cited.map(({ document_id: id }) => id),
      cited.map(({ chunk_index: index }) => index),
      cited.map(({ chunk_id: id }) => id),
    ],
  });
  return new Map(rows.map((row) => [row.chunk_id, row]));
}
