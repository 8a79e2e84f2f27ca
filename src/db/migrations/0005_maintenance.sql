-- What maintenance needs to find what is due without reading everything, and which request holds an Idempotency-Key.

-- The request that works under the key; an answer of one that lost its lease meanwhile is not taken.
alter table idempotency_keys add column token uuid;
-- As text, so that a repeat is answered byte for byte.
alter table idempotency_keys alter column response type text using response::text;

-- A run keeps its row longer than its text, and its text longer than its object.
alter table pipeline_runs add column text_purged boolean not null default false;
alter table pipeline_runs add column object_purged boolean not null default false;
create index pipeline_runs_unpurged on pipeline_runs (organization_id, document_id, num)
  where not text_purged and status in ('completed', 'failed', 'cancelled');
create index pipeline_runs_object_left on pipeline_runs (organization_id) where text_purged and not object_purged;
-- In the order in which stores list them.
alter table raw_files alter column object_key type text collate "C";
alter table pipeline_runs alter column object_key type text collate "C";
alter table upload_intents alter column object_key type text collate "C";
create index pipeline_runs_object on pipeline_runs (object_key);
create index raw_files_object on raw_files (object_key);
create index documents_long_history on documents (organization_id) where run_count > 50;

create index on claims (closed_at) where closed_at is not null;
create index on deletions (completed_at) where completed_at is not null;
create index on embedding_cache using brin (last_used_at);
create index on audit_log using brin (at);
create index on turns using brin (started_at);
create index on turn_calls using brin (at);

-- The provider failed last: it is tried by one request a second until one succeeds.
alter table provider_gates add column is_failing boolean not null default false;
