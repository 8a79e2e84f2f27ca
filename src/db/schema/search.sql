-- What search reads: chunks, postings, embeddings by run (the generation), and what is hidden.

create table chunks (
  organization_id uuid not null,
  run_num int not null,
  chunk_index int not null,
  id uuid not null,
  document_id uuid not null,
  text text not null,
  token_count int not null,
  page_start int,
  page_end int,
  metadata jsonb not null default '{}',
  -- HMAC-SHA-256 of the text with the organization's secret, 16 bytes: the key of its cached embedding.
  content_hash bytea not null,
  primary key (run_num, chunk_index),
  -- The model (embedding_models.num) that refuses the text: the chunk is published without a vector, and
  -- found by its words. Part of the run, so that the next run of the document asks again.
  refused_by smallint,
  -- Where the words stand: in the document's text, and in the file (src/domain/locations/packed.ts). Null
  -- where a parser does not know, and in what versions before 0.9.0 wrote.
  start_offset int,
  end_offset int,
  places jsonb,
  -- What the chunk is about, in the words of its document: the title and the headings above it, a line each
  -- (src/activities/pipeline/chunk-header.ts). It is embedded and indexed with the text, and never shown.
  -- Empty if there is nothing to say; null in what versions before 0.10.0 wrote, which is embedded and
  -- indexed without one.
  header text
);
alter table chunks set (autovacuum_vacuum_insert_scale_factor = 0.05);
create index on chunks (document_id);

-- The text of a run as parsed, in blocks of consecutive units.
create table text_blocks (
  organization_id uuid not null,
  run_num int not null,
  first_index int not null,
  unit_count int not null,
  units jsonb not null,
  primary key (run_num, first_index)
);

create table embedding_models (
  num smallint generated always as identity primary key,
  name text not null unique,
  dimensions int not null
);

-- Vectors by content: the checkpoint of embedding, and what makes the same text free the next time.
create table embedding_cache (
  organization_id uuid not null,
  model_num smallint not null,
  content_hash bytea not null,
  embedding halfvec not null,
  last_used_at timestamptz not null default now(),
  primary key (organization_id, model_num, content_hash)
);
alter table embedding_cache alter column embedding set storage plain;
create index on embedding_cache using brin (last_used_at);

create table embedding_cache_references (
  organization_id uuid not null,
  content_hash bytea not null,
  raw_file_id uuid not null,
  primary key (raw_file_id, content_hash)
);
create index on embedding_cache_references (organization_id, content_hash);

-- Live search entries. A literal space number prunes to one partition when the query is planned.
create table embeddings (
  organization_num int not null,
  space_num int not null,
  run_num int not null,
  chunk_index int not null,
  model_num smallint not null,
  embedding halfvec not null,
  primary key (space_num, run_num, chunk_index)
) partition by hash (space_num);
alter table embeddings alter column embedding set storage plain;

-- An index is built concurrently, which no function can do, and takes the ownership of its table and the right
-- to create in its schema. So the partitions of vectors have a schema of their own: who may create in `public`
-- could plant functions there that the owner's next migration calls. Who owns a table decides what runs when it is
-- read or written: triggers, policies, and the functions in its constraints and in the predicates of its indexes,
-- which the planner calls. So nothing that has the owner's rights reads or writes `embeddings`.
create schema vectors;
do $$
begin
  for part in 0..63 loop
    execute format(
      'create table vectors.embeddings_%s partition of embeddings for values with (modulus 64, remainder %s)',
      part, part
    );
    execute format('alter table vectors.embeddings_%s alter column embedding set storage plain', part);
  end loop;
end $$;

-- A space takes its vectors with it. With the rights of who deletes the space: a role that the function
-- belonged to could be made, by what is planted on these tables, to change the function.
create function forget_vectors() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  delete from public.embeddings where space_num = old.num;
  return null;
end $$;
create trigger forget_vectors after delete on spaces for each row execute function forget_vectors();

-- Spaces with their own vector index (embeddings_hnsw_<space>_<model>), used while the row is there.
create table vector_indexes (
  organization_num int not null,
  space_num int not null,
  model_num smallint not null,
  -- Vectors when it was built, and the latest run among them.
  built_rows int not null,
  built_run_num int not null,
  checked_at timestamptz not null default now(),
  primary key (space_num, model_num)
);

-- A part of a space's inverted index: what one publish wrote, or what several such were merged into.
create table posting_segments (
  organization_num int not null,
  space_num int not null,
  num int generated always as identity primary key,
  analyzer_version smallint not null,
  -- The languages whose stems are among its terms.
  languages text[] not null,
  -- Terms of its chunks with their repetitions: how large it is.
  terms bigint not null
);
create index on posting_segments (space_num, terms);

-- Which chunks of a run are in which segment: from `first_chunk` on. A part of a run is indexed once.
create table posting_runs (
  organization_num int not null,
  space_num int not null,
  run_num int not null,
  first_chunk int not null,
  chunk_count int not null,
  terms bigint not null,
  segment_num int not null,
  primary key (run_num, first_chunk),
  -- How much headers add to the counts of the part's postings; `terms` are those of texts alone.
  header_terms bigint not null default 0
);
create index on posting_runs (segment_num);

-- The terms of a segment with the chunks that have them, in the order of terms and packed as
-- src/db/search/term-blocks.ts says; and under the empty term the list of its chunks (posting-blocks.ts).
create table postings (
  organization_num int not null,
  space_num int not null,
  segment_num int not null,
  first_term text collate "C" not null,
  data bytea not null,
  primary key (segment_num, first_term)
);
alter table postings alter column data set storage external;
alter table postings set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

-- Runs whose search entries exist but are not served: not published yet, or not any more. The mark stays for
-- as long as a posting does.
create table hidden_runs (
  organization_num int not null,
  space_num int not null,
  run_num int not null,
  reason text not null check (reason in ('in_flight', 'superseded', 'deleted')),
  hidden_at timestamptz not null default now(),
  primary key (space_num, run_num)
);

-- Published chunks and their terms by embedding model, as differences that add up to the space's totals
-- (BM25's N and average length).
create table space_statistics (
  organization_num int not null,
  space_num int not null,
  chunks int not null,
  terms bigint not null,
  -- Of the chunks' vectors; null where none is meant.
  embedding_model text,
  at timestamptz not null default now()
);
create index on space_statistics (space_num) include (chunks, terms, embedding_model);

-- How well an embedding model tells the texts of a space apart, as index upkeep measured it last on the
-- space's own vectors (src/db/search/index/language-fit.ts).
create table language_fits (
  organization_num int not null,
  space_num int not null references spaces (num) on delete cascade,
  model_num smallint not null,
  -- The share of comparisons in which the next chunk of the document is nearer than a chunk of another
  -- document; null where too few could be made.
  auc real,
  -- Pairs of a chunk and its next one that were compared.
  pairs int not null,
  -- Published chunks of the space with the model's vectors at that time.
  chunks_measured int not null,
  measured_at timestamptz not null default now(),
  primary key (space_num, model_num)
);
