-- Runs are claimed by lane, and inside a lane by user, so that a small document never waits for a large one, nor one user for another.
-- 0: over in moments; 1: small, but perhaps a picture to read; 2: large. `src/domain/processing.ts` has the same bounds.
create function run_lane(file_type text, file_size bigint) returns smallint language sql immutable parallel safe as $$
  select case when file_size > 1048576 then 2
    when file_size > 65536 or file_type in ('PDF', 'PNG', 'JPEG', 'TIFF', 'ZIP', 'EML', 'MSG') then 1
    else 0 end::smallint
$$;
create function run_user(created_by uuid) returns uuid language sql immutable parallel safe as $$
  select coalesce(created_by, '00000000-0000-0000-0000-000000000000')
$$;
create index pipeline_runs_lanes on pipeline_runs (organization_id, priority, run_lane(file_type, file_size), run_user(created_by), num)
  where status = 'queued' and claim_id is null and not held;

-- Null: made by the version before, which knew no lanes.
alter table claims add column lane smallint;

-- Why the provider is left alone; null: a process of the version before closed the gate.
alter table provider_gates add column code text;

-- Since when, and how often, a run has met the cause that waiting_for names; they mean nothing where it names none.
alter table pipeline_runs
  add column waiting_since timestamptz,
  add column waiting_attempts int not null default 0,
  add column next_attempt_at timestamptz;
