-- What search reads: chunks, postings and embeddings by run (the generation), and what of them is not to be seen.

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
  primary key (run_num, chunk_index)
);
alter table chunks set (autovacuum_vacuum_insert_scale_factor = 0.05);
create index on chunks (document_id);
call protect_tenant_table('chunks');

-- The text of a run as parsed, in blocks of consecutive units.
create table text_blocks (
  organization_id uuid not null,
  run_num int not null,
  first_index int not null,
  unit_count int not null,
  units jsonb not null,
  primary key (run_num, first_index)
);
call protect_tenant_table('text_blocks');

create table embedding_models (
  num smallint generated always as identity primary key,
  name text not null unique,
  dimensions int not null
);
grant select, insert on embedding_models to holdfast_app;

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
call protect_tenant_table('embedding_cache');

create table embedding_cache_references (
  organization_id uuid not null,
  content_hash bytea not null,
  raw_file_id uuid not null,
  primary key (raw_file_id, content_hash)
);
create index on embedding_cache_references (organization_id, content_hash);
call protect_tenant_table('embedding_cache_references');

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
call protect_tenant_table('embeddings');
do $$
begin
  for part in 0..63 loop
    execute format('create table embeddings_%s partition of embeddings for values with (modulus 64, remainder %s)', part, part);
    execute format('alter table embeddings_%s enable row level security', part);
    execute format('alter table embeddings_%s alter column embedding set storage plain', part);
  end loop;
end $$;

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
call protect_tenant_table('posting_segments');
call open_to_system('posting_segments');

-- Which chunks of a run are in which segment: from `first_chunk` on. A part of a run is indexed once.
create table posting_runs (
  organization_num int not null,
  space_num int not null,
  run_num int not null,
  first_chunk int not null,
  chunk_count int not null,
  terms bigint not null,
  segment_num int not null,
  primary key (run_num, first_chunk)
);
create index on posting_runs (segment_num);
call protect_tenant_table('posting_runs');
call open_to_system('posting_runs');

-- The terms of a segment with the chunks that have them, in the order of terms and packed as src/db/search/term-blocks.ts says; and under the
-- empty term the list of its chunks (posting-blocks.ts).
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
call protect_tenant_table('postings');

-- Runs whose search entries exist but are not served: not published yet, or not any more. The mark stays for as long as a posting does.
create table hidden_runs (
  organization_num int not null,
  space_num int not null,
  run_num int not null,
  reason text not null check (reason in ('in_flight', 'superseded', 'deleted')),
  hidden_at timestamptz not null default now(),
  primary key (space_num, run_num)
);
call protect_tenant_table('hidden_runs');
call open_to_system('hidden_runs');

-- Published chunks and their terms by embedding model, as differences that add up to the space's totals (BM25's N and average length).
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
call protect_tenant_table('space_statistics');
call open_to_system('space_statistics');
