/** Queries that find rows which contradict what the service promises; each returns one row for each fault. */
export const FAULTY_ROWS: Readonly<Record<string, string>> = {
  "an accepted document has not ended": `
    select id
    from pipeline_runs
    where status in ('queued', 'parsing', 'chunking', 'embedding')`,
  "a failed run has no reason": `
    select id
    from pipeline_runs
    where status = 'failed'
      and error ->> 'code' is null`,
  "a document failed for a reason of the machine": `
    select id
    from pipeline_runs
    where status = 'failed'
      and error ->> 'code' in ('internal', 'worker_crashed')`,
  "a published run has chunks without an embedding, or twice": `
    select document.id
    from documents document
    join pipeline_runs run on run.num = document.published_run_num
    where document.deleted_at is null
      and run.chunk_count is distinct from (
        select count(*)
        from embeddings embedding
        where embedding.run_num = run.num
          and embedding.space_num = run.space_num)`,
  "a published run has lost or doubled chunks": `
    select document.id
    from documents document
    join pipeline_runs run on run.num = document.published_run_num
    where document.deleted_at is null
      and run.chunk_count is distinct from (
        select count(*) from chunks chunk where chunk.run_num = run.num)`,
  "a published run is not indexed whole, or twice": `
    select run.num
    from documents document
    join pipeline_runs run on run.num = document.published_run_num
    where document.deleted_at is null
      and (run.chunk_count, run.term_count) is distinct from (
        select (sum(indexed.chunk_count)::int, sum(indexed.terms)::bigint)
        from posting_runs indexed
        where indexed.run_num = run.num)`,
  "a segment has no run, or a run no segment": `
    select segment.num
    from posting_segments segment
    where segment.terms is distinct from (
      select sum(indexed.terms)::bigint from posting_runs indexed where indexed.segment_num = segment.num)
    union
    select indexed.segment_num
    from posting_runs indexed
    where not exists (select from posting_segments segment where segment.num = indexed.segment_num)
    union
    select posting.segment_num
    from postings posting
    where not exists (select from posting_segments segment where segment.num = posting.segment_num)`,
  "search entries of a run that is not published and not hidden": `
    select distinct embedding.run_num
    from embeddings embedding
    where not exists (select from documents document where document.published_run_num = embedding.run_num)
      and not exists (select from hidden_runs hidden where hidden.run_num = embedding.run_num)
    union
    select distinct indexed.run_num
    from posting_runs indexed
    where not exists (select from documents document where document.published_run_num = indexed.run_num)
      and not exists (select from hidden_runs hidden where hidden.run_num = indexed.run_num)`,
  "the space's totals are not those of its published chunks": `
    select space.num
    from spaces space
    where coalesce((
        select sum(chunks) from space_statistics statistic where statistic.space_num = space.num), 0)
      <> coalesce((
        select sum(run.chunk_count)
        from documents document
        join pipeline_runs run on run.num = document.published_run_num
        where document.space_id = space.id
          and document.deleted_at is null), 0)`,
  "a run was published that had been cancelled or superseded": `
    select id
    from pipeline_runs
    where status = 'completed'
      and error is not null`,
  "a run was published twice": `
    select document_id
    from pipeline_runs
    where status = 'completed'
    group by document_id, version
    having count(*) > 1`,
  "a claim is open though its runs have ended": `
    select claim.id
    from claims claim
    where claim.closed_at is null
      and claim.created_at < now() - interval '2 minutes'
      and not exists (
        select
        from pipeline_runs run
        where run.claim_id = claim.id
          and run.status in ('queued', 'parsing', 'chunking', 'embedding'))`,
  "a deletion is not complete": `
    select id from deletions where completed_at is null`,
  "a deleted document is still there": `
    select id from documents where deleted_at is not null`,
  "an operation is not complete": `
    select id from operations where completed_at is null`,
  "a batch has not ended": `
    select id from batches where completed_at is null`,
  "a chat turn has not ended": `
    select id from turns where status = 'open'`,
  "an ended chat turn waits for a workflow": `
    select id from turns where adopt_after is not null`,
  "a response in the background has not ended": `
    select id from responses where is_background and status in ('queued', 'in_progress')`,
  "text of no run": `
    select chunk.run_num
    from chunks chunk
    where not exists (select from pipeline_runs run where run.num = chunk.run_num)`,
};
