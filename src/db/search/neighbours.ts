/** SQL that reads the chunks beside others in their documents. */
import { VISIBLE } from "../documents/passages.ts";
import type { Sql } from "../pool.ts";

export interface FoundChunk {
  readonly chunk_id: string;
  readonly document_id: string;
  readonly chunk_index: number;
}

interface Neighbour {
  readonly chunk_id: string;
  readonly chunk_index: number;
  readonly text: string;
}

/** What stands on either side of a chunk, each in the order of the document. */
export interface Neighbourhood {
  readonly before: readonly Neighbour[];
  readonly after: readonly Neighbour[];
}

/** Characters of all neighbours of one read together. */
export const NEIGHBOURS_MAX_CHARACTERS = 1_000_000;

/**
 * The chunk itself is among the rows, without its text, so that one without neighbours differs from one that
 * is not there any more. Texts are added up from the first chunk on and from near to far, so that the bound
 * leaves no gap beside a chunk.
 */
const READ_NEIGHBOURS = `${VISIBLE},
     beside as (
       select wanted.position,
              near.id as chunk_id,
              near.chunk_index,
              near.chunk_index - hit.chunk_index as distance,
              case when near.chunk_index = hit.chunk_index then '' else near.text end as text
       from unnest($3::uuid[], $4::int[], $5::uuid[])
              with ordinality wanted(document_id, chunk_index, chunk_id, position)
       join visible document on document.id = wanted.document_id
       join chunks hit
         on hit.run_num = document.published_run_num
        and hit.chunk_index = wanted.chunk_index
        and hit.id = wanted.chunk_id
       join chunks near
         on near.run_num = hit.run_num
        and near.chunk_index between hit.chunk_index - $6 and hit.chunk_index + $6
     )
     select position, chunk_id, chunk_index, distance, text
     from (
       select beside.*,
              sum(length(text)) over (order by position, abs(distance), distance) as characters
       from beside
     ) counted
     where characters <= $7
        or distance = 0
     order by position, chunk_index`;

interface NeighbourRow extends Neighbour {
  readonly position: string;
  /** 0 is the chunk itself. */
  readonly distance: number;
}

/**
 * Reads up to `reach` chunks on either side of each chunk, of the same version of its document, in one
 * statement.
 *
 * @returns one for each chunk, in their order; undefined for a chunk that is not published any more or not in
 *   the spaces. Beyond {@link NEIGHBOURS_MAX_CHARACTERS} the last chunks have fewer or none.
 */
export async function readNeighbours(
  sql: Sql,
  spaceIds: readonly string[],
  chunks: readonly FoundChunk[],
  reach: number,
): Promise<(Neighbourhood | undefined)[]> {
  if (chunks.length === 0) return [];
  const { rows } = await sql.query<NeighbourRow>({
    name: "search.read-neighbours",
    text: READ_NEIGHBOURS,
    values: [
      spaceIds,
      null,
      chunks.map((chunk) => chunk.document_id),
      chunks.map((chunk) => chunk.chunk_index),
      chunks.map((chunk) => chunk.chunk_id),
      reach,
      NEIGHBOURS_MAX_CHARACTERS,
    ],
  });
  const byPosition = Map.groupBy(rows, ({ position }) => Number(position));
  return chunks.map((_, at) => {
    const beside = byPosition.get(at + 1);
    return (
      beside && {
        before: beside.filter(({ distance }) => distance < 0).map(toNeighbour),
        after: beside.filter(({ distance }) => distance > 0).map(toNeighbour),
      }
    );
  });
}

const toNeighbour = ({ chunk_id, chunk_index, text }: NeighbourRow): Neighbour => ({
  chunk_id,
  chunk_index,
  text,
});
