-- Counts of what is not as it should be.

-- Run numbers of the transaction's organization that left something behind: whose row is gone, or whose
-- search entries no version serves. The tables are indexed by run over all organizations, so the steps
-- through an index see every run; rows of no other organization come out. Which runs have vectors in which
-- spaces is what the caller sees of its own.
create function orphan_runs(vector_spaces int[], vector_runs int[]) returns table (run_num int, space_num int, kind text) language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  own_id uuid := current_organization_id();
  own_num int := current_organization_num();
begin
  return query
    with recursive
    chunk_step as (
      (select c.run_num, c.organization_id from chunks c order by c.run_num limit 1)
      union all
      select n.run_num, n.organization_id from chunk_step s,
        lateral (select c.run_num, c.organization_id from chunks c where c.run_num > s.run_num order by c.run_num limit 1) n),
    text_step as (
      (select t.run_num, t.organization_id from text_blocks t order by t.run_num limit 1)
      union all
      select n.run_num, n.organization_id from text_step s,
        lateral (select t.run_num, t.organization_id from text_blocks t where t.run_num > s.run_num order by t.run_num limit 1) n),
    entered as (
      select p.run_num, p.space_num from posting_runs p where p.organization_num = own_num
      union
      select v.run_num, v.space_num from unnest(vector_spaces, vector_runs) as v (space_num, run_num))
    select c.run_num, null::int, 'chunks_without_run' from chunk_step c
      where c.organization_id = own_id and not exists (select from pipeline_runs r where r.num = c.run_num)
    union all
    select t.run_num, null, 'text_without_run' from text_step t
      where t.organization_id = own_id and not exists (select from pipeline_runs r where r.num = t.run_num)
    union all
    select x.run_num, x.space_num, case when r.num is null then 'entries_without_run' else 'entries_not_served' end
    from entered x left join pipeline_runs r on r.num = x.run_num and r.organization_id = own_id
    where not exists (select from hidden_runs h where h.space_num = x.space_num and h.run_num = x.run_num and h.organization_num = own_num)
      and not exists (select from documents d where d.published_run_num = x.run_num and d.organization_id = own_id);
end $$;

-- How much of the transaction's organization is not as it should be; `run_nums` and `run_terms` are what its
-- postings were counted to hold, `vector_runs` and `vector_counts` how many chunks of a run have a vector or
-- are refused one. Each count must be 0.
create function count_faults(run_nums int[], run_terms bigint[], vector_runs int[], vector_counts bigint[])
  returns table (published_incomplete int, published_hidden int, runs_without_claim int, documents_without_file int, statistics_wrong int)
  language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
  own_id uuid := current_organization_id();
  own_num int := current_organization_num();
begin
  -- Live documents whose published run is gone, or has not as many chunks, embeddings and terms as it was published with; a chunk that its model refuses
  -- has no embedding.
  published_incomplete := (
    select count(*) from documents d where d.organization_id = own_id and d.deleted_at is null and d.published_run_num is not null
      and not exists (select from pipeline_runs r where r.num = d.published_run_num));
  published_incomplete := published_incomplete + (
    select count(*) from documents d join pipeline_runs r on r.num = d.published_run_num
      left join (select c.run_num, count(*) as count from chunks c where c.organization_id = own_id group by c.run_num) chunked on chunked.run_num = r.num
      left join unnest(vector_runs, vector_counts) as embedded (run_num, count) on embedded.run_num = r.num
      left join unnest(run_nums, run_terms) as posted (run_num, terms) on posted.run_num = r.num
    where d.organization_id = own_id and d.deleted_at is null
      and (coalesce(chunked.count, 0) <> r.chunk_count
        or coalesce(posted.terms, 0) <> r.term_count
        or coalesce(embedded.count, 0) <> r.chunk_count));
  published_hidden := (
    select count(*) from hidden_runs h join documents d on d.published_run_num = h.run_num where h.organization_num = own_num and d.deleted_at is null);
  runs_without_claim := (
    select count(*) from pipeline_runs r where r.organization_id = own_id and r.status in ('queued', 'parsing', 'chunking', 'embedding')
      and ((r.claim_id is null and r.status <> 'queued')
        or (r.claim_id is not null and not exists (select from claims c where c.id = r.claim_id and c.closed_at is null))));
  documents_without_file := (
    select count(*) from documents d where d.organization_id = own_id and d.deleted_at is null
      and not exists (select from raw_files f where f.document_id = d.id and f.deleted_at is null));
  -- Spaces whose totals are not those of their published documents.
  statistics_wrong := (
    select count(*) from spaces s
      left join (select t.space_num, sum(t.chunks) as chunks, sum(t.terms) as terms from space_statistics t where t.organization_num = own_num group by t.space_num) told
        on told.space_num = s.num
      left join (
        select d.space_num, sum(r.chunk_count) as chunks, sum(r.term_count) as terms from documents d join pipeline_runs r on r.num = d.published_run_num
        where d.organization_id = own_id and d.deleted_at is null group by d.space_num) published on published.space_num = s.num
    where s.organization_id = own_id and s.deleted_at is null
      and (coalesce(told.chunks, 0) <> coalesce(published.chunks, 0) or coalesce(told.terms, 0) <> coalesce(published.terms, 0)));
  return next;
end $$;
