-- The runs of the pipeline, and how they are claimed.

-- Runs are claimed by lane, and inside a lane by user, so that a small document never waits for a large one,
-- nor one user for another. 0: over in moments; 1: small, but perhaps a picture to read; 2: large.
-- `src/domain/work/processing.ts` has the same bounds.
create function run_lane(file_type text, file_size bigint) returns smallint language sql immutable parallel safe as $$
  select case when file_size > 1048576 then 2
    when file_size > 65536 or file_type in ('PDF', 'PNG', 'JPEG', 'TIFF', 'ZIP', 'EML', 'MSG') then 1
    else 0 end::smallint
$$;

-- The user whose turn a run counts in; one id for all runs of nobody.
create function run_user(created_by uuid) returns uuid language sql immutable parallel safe as $$
  select coalesce(created_by, '00000000-0000-0000-0000-000000000000')
$$;

create table pipeline_runs (
  id uuid primary key,
  num int generated always as identity unique,
  organization_id uuid not null references organizations,
  space_id uuid not null references spaces,
  space_num int not null,
  document_id uuid not null,
  version int not null,
  trigger text not null check (trigger in ('upload', 'reprocess', 'batch', 'replace', 'restore')),
  -- 0: uploads and single requests; 1: batches.
  priority smallint not null default 0,
  status text not null default 'queued'
    check (status in ('queued', 'parsing', 'chunking', 'embedding', 'completed', 'failed', 'cancelled')),
  parsed boolean not null default false,
  chunked boolean not null default false,
  embedded boolean not null default false,
  progress real not null default 0,
  waiting_for text,
  cancel_requested boolean not null default false,
  claim_id uuid,
  -- Held runs belong to a batch that has not released them yet.
  held boolean not null default false,
  -- The attempt that has the run in hand. One that is still there when the next attempt begins was lost with
  -- its process: the run is suspected then, and worked on in a process that has nothing else in hand.
  attempt_id uuid,
  suspected boolean not null default false,
  -- Such processes that were lost with it since it last got on; with the third it ends `worker_crashed`.
  lost_attempts smallint not null default 0,
  batch_id uuid,
  object_key text collate "C" not null,
  file_name text not null,
  file_type text not null,
  file_size bigint not null,
  parser_name text,
  chunker_name text not null,
  chunker_config jsonb not null default '{}',
  embedding_model text,
  analyzer_version smallint,
  page_count int,
  chunk_count int,
  embedded_chunk_count int,
  -- Terms of all its indexed chunks: what the run adds to the space's total once it is published.
  term_count bigint not null default 0,
  error jsonb,
  warnings jsonb not null default '[]',
  -- Where a long document goes on, by the activity that divides it; null before and after its parts.
  checkpoint jsonb,
  -- W3C: the trace of the request that queued it, where there is one; its processing goes on in it.
  traceparent text,
  created_by uuid,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz,
  -- A run keeps its row longer than its text, and its text longer than its object.
  text_purged boolean not null default false,
  object_purged boolean not null default false,
  -- Since when, and how often, a run has met the cause in waiting_for; without one they mean nothing.
  waiting_since timestamptz,
  waiting_attempts int not null default 0,
  next_attempt_at timestamptz,
  -- The attempts of a run, oldest first: the first 10 and the last 40. An entry has `attempt` (its number,
  -- from 1), `step`, `started_at`, `workflow_id`, and once it has ended `ended_at`, `outcome` and maybe
  -- `code`.
  attempts jsonb not null default '[]'
);
create unique index pipeline_runs_version on pipeline_runs (document_id, version);
create unique index pipeline_runs_active on pipeline_runs (document_id)
  where status in ('queued', 'parsing', 'chunking', 'embedding');
create index pipeline_runs_queue on pipeline_runs (priority, organization_id, num)
  where status = 'queued' and claim_id is null and not held;
create index on pipeline_runs (claim_id)
  where claim_id is not null and status in ('queued', 'parsing', 'chunking', 'embedding');
create index pipeline_runs_batch on pipeline_runs (batch_id, num) where batch_id is not null;
create index pipeline_runs_held on pipeline_runs (batch_id, num) where held and status = 'queued';
create index pipeline_runs_released on pipeline_runs (batch_id)
  where batch_id is not null and not held and status in ('queued', 'parsing', 'chunking', 'embedding');
create index pipeline_runs_unpurged on pipeline_runs (organization_id, document_id, num)
  where not text_purged and status in ('completed', 'failed', 'cancelled');
create index pipeline_runs_object_left on pipeline_runs (organization_id)
  where text_purged and not object_purged;
create index pipeline_runs_object on pipeline_runs (object_key);
create index pipeline_runs_lanes on pipeline_runs (organization_id, priority, run_lane(file_type, file_size), run_user(created_by), num)
  where status = 'queued' and claim_id is null and not held;

-- A group of at most 32 runs of one organization that one workflow carries. Its members never change.
create table claims (
  id uuid primary key,
  organization_id uuid not null references organizations,
  priority smallint not null,
  run_ids uuid[] not null check (cardinality(run_ids) between 1 and 32),
  leased_until timestamptz not null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  -- All that is left in it waits for an outage to end; it does not count against what an organization may
  -- have under way.
  waiting boolean not null default false,
  -- Of one suspected run: worked on in a process that has nothing else in hand. It does not count either.
  isolated boolean not null default false,
  closed_at timestamptz,
  -- 0: over in moments; 1: small, but perhaps a picture to read; 2: large. See run_lane.
  lane smallint
);
create index on claims (leased_until) where closed_at is null;
create index on claims (id) where isolated and closed_at is null;
create index on claims (organization_id, priority) where closed_at is null;
create index on claims (closed_at) where closed_at is not null;

-- Whose turn it is: one row an organization and priority, taken oldest first.
create table claim_turns (
  organization_id uuid not null references organizations,
  priority smallint not null,
  last_claimed_at timestamptz not null default '-infinity',
  primary key (organization_id, priority)
);

-- Batches, the outbox of their workflows. Pause, resume and cancel are facts that the steps read.
create table batches (
  id uuid primary key,
  organization_id uuid not null references organizations,
  created_by uuid not null references users,
  -- The spaces of its documents.
  space_ids uuid[] not null,
  total int not null,
  accepted int not null,
  rejected jsonb not null default '[]',
  status text not null default 'running' check (status in ('running', 'paused', 'cancelled', 'completed')),
  created_at timestamptz not null default now(),
  leased_until timestamptz,
  completed_at timestamptz,
  -- When a workflow was first asked for; null while it waits for its turn.
  started_at timestamptz,
  -- The key that started the batch; null: its starter had logged in, or the key is not known any more.
  api_key_id uuid
);
create index on batches (created_at) where completed_at is null;
create index batches_waiting on batches (organization_id, created_at) where completed_at is null;
create index batches_under_way on batches (organization_id)
  where completed_at is null and (started_at is not null or leased_until is not null);

create function note_attempt() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
declare
  last int := jsonb_array_length(new.attempts) - 1;
  outcome text;
  code text;
begin
  if old.attempt_id is not null and last >= 0 and not new.attempts -> last ? 'ended_at' then
    if new.status = 'completed' then outcome := 'done';
    elsif new.status = 'cancelled' then outcome := 'superseded';
    elsif new.status = 'failed' then
      code := new.error ->> 'code';
      outcome := case when code = 'worker_crashed' then 'lost' else 'failed' end;
    elsif new.attempt_id is not null then outcome := 'superseded';
    elsif new.chunked and not old.chunked then outcome := 'done';
    elsif new.waiting_for is not null and new.next_attempt_at is distinct from old.next_attempt_at then
      outcome := 'waiting';
      code := new.waiting_for;
    -- A lost attempt makes its run suspected; one that goes on in an orderly way never does.
    elsif new.suspected and (
      not old.suspected or new.lost_attempts > old.lost_attempts or new.claim_id is null
    ) then outcome := 'lost';
    else outcome := 'released';
    end if;
    new.attempts := jsonb_set(
      new.attempts,
      array[last::text],
      (new.attempts -> last) || jsonb_strip_nulls(jsonb_build_object(
        'ended_at', clock_timestamp(), 'outcome', outcome, 'code', code
      ))
    );
  end if;
  if new.attempt_id is not null and new.attempt_id is distinct from old.attempt_id then
    new.attempts := new.attempts || jsonb_build_object(
      'attempt', coalesce((new.attempts -> last ->> 'attempt')::int, 0) + 1,
      'step', case when new.chunked then 'embed' else 'prepare' end,
      'started_at', clock_timestamp(),
      'workflow_id', (
        select case
          when claim.isolated or (cardinality(claim.run_ids) = 1 and new.file_size > 1048576) then
            'document/' || new.organization_id || '/' || new.id || '/' || claim.id
          else 'document-pipeline/' || new.organization_id || '/' || claim.id
        end
        from claims claim
        where claim.id = new.claim_id
      )
    );
    if last >= 49 then new.attempts := new.attempts - 10; end if;
  end if;
  return new;
end $$;
create trigger note_attempt before update on pipeline_runs for each row
  when (
    new.attempt_id is distinct from old.attempt_id
    or (new.status in ('completed', 'failed', 'cancelled') and new.status <> old.status)
  )
  execute function note_attempt();
