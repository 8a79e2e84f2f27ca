/** All SQL that finds the files of a document's versions, and where in them a chunk stands. */
import type { FileType } from "../../domain/file-type.ts";
import type { PackedPlaces } from "../../domain/locations/packed.ts";
import type { Sql } from "../pool.ts";

export interface KeptVersion {
  readonly run_num: number;
  readonly version: number;
  readonly object_key: string;
  readonly file_type: FileType;
  /** Bytes. */
  readonly file_size: number;
}

/**
 * Returns the versions whose files are kept, those first that callers mean if they name none: the published
 * one, then the newest. Kept are the published version, the one before it and the file of the latest run, as
 * maintenance keeps them (upkeep/unneeded.ts).
 */
export async function listKeptVersions(sql: Sql, documentId: string): Promise<KeptVersion[]> {
  const { rows } = await sql.query<KeptVersion>(
    `select run.num as run_num, run.version, run.object_key, run.file_type, run.file_size
     from documents document
     join pipeline_runs run on run.document_id = document.id
     where document.id = $1
       and not run.object_purged
       and (
         run.num in (document.published_run_num, document.latest_run_num)
         or run.num = (
           select max(other.num)
           from pipeline_runs other
           where other.document_id = document.id
             and other.status = 'completed'
             and other.num is distinct from document.published_run_num
         )
       )
     order by (run.num = document.published_run_num) is true desc, run.num desc`,
    [documentId],
  );
  return rows;
}

/** Returns how many versions the document has had. */
export async function countVersions(sql: Sql, documentId: string): Promise<number> {
  const { rows } = await sql.query<{ run_count: number }>("select run_count from documents where id = $1", [
    documentId,
  ]);
  return rows[0]?.run_count ?? 0;
}

export interface PlacedChunk {
  readonly run_num: number;
  readonly places: PackedPlaces | null;
}

/** Returns the chunk in each of the runs that has it: restoring a version copies chunks with their ids. */
export async function findPlacedChunk(
  sql: Sql,
  { documentId, chunkId, runNums }: { documentId: string; chunkId: string; runNums: readonly number[] },
): Promise<PlacedChunk[]> {
  const { rows } = await sql.query<PlacedChunk>(
    `select run_num, places
     from chunks
     where document_id = $1
       and id = $2
       and run_num = any($3::int[])`,
    [documentId, chunkId, runNums],
  );
  return rows;
}
