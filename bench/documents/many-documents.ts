/** Inserts many completed documents into a database, without uploads and without a pipeline. */
import type pg from "pg";

export interface ManyDocuments {
  readonly organizationId: string;
  readonly spaceId: string;
  readonly userId: string;
  readonly count: number;
}

/**
 * Inserts completed documents of three types, in ten projects, created over a year, and renews the statistics
 * of the planner.
 */
export async function insertManyDocuments(
  owner: pg.Pool,
  { organizationId, spaceId, userId, count }: ManyDocuments,
): Promise<void> {
  await owner.query(
    `with made as (
       select gen_random_uuid() as id, n
       from   generate_series(1, $4::int) n
     ),
     runs as (
       insert into pipeline_runs
         (id, organization_id, space_id, space_num, document_id, version, trigger, status, parsed, chunked,
          embedded, progress, object_key, file_name, file_type, file_size, parser_name, chunker_name,
          embedding_model, chunk_count, embedded_chunk_count, created_by, completed_at)
       select gen_random_uuid(), $1, $2, space.num, made.id, 1, 'upload', 'completed', true, true,
              true, 1, 'objects/' || made.id, 'file-' || n || '.md', 'MARKDOWN', 1000 + n, 'markdown',
              'page_based', 'bench', 4, 4, $3, now()
       from   made, spaces space
       where  space.id = $2
       returning document_id, num, space_num
     )
     insert into documents
       (id, organization_id, space_id, space_num, name, file_type, file_size, content_type, metadata,
        created_by, created_at, updated_at, run_count, latest_run_num, published_run_num, published_version)
     select made.id, $1, $2, runs.space_num, 'file-' || n || '.md',
            (array['MARKDOWN', 'PDF', 'TEXT'])[1 + n % 3], 1000 + n * 7919 % 1000003, 'text/markdown',
            jsonb_build_object('project', 'p' || n % 10), $3,
            now() - make_interval(secs => n * 7919 % 31536000), now(), 1, runs.num, runs.num, 1
     from   made
     join   runs on runs.document_id = made.id`,
    [organizationId, spaceId, userId, count],
  );
  await owner.query("vacuum analyze documents, pipeline_runs");
}
