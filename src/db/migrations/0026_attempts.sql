-- What happens to a run while it is under way, whoever writes it: every path of this version and of the one
-- before. Both are triggers, so that processing takes no further statement.

-- The step that a run has gone on to. Only changes of the status count, so that an attempt which is made again
-- within a step tells nothing.
create function note_run_progress() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
begin
  insert into events (organization_id, type, space_id, resource_type, resource_id, data, audience)
  values (
    new.organization_id,
    'document.progressed',
    new.space_id,
    'document',
    new.document_id,
    jsonb_strip_nulls(jsonb_build_object(
      'version', new.version,
      'run_id', new.id,
      'batch_id', new.batch_id,
      'trigger', new.trigger,
      'status', new.status
    )),
    'space'
  );
  return null;
end $$;
create trigger note_run_progress after update on pipeline_runs for each row
  when (new.status in ('parsing', 'chunking', 'embedding') and new.status <> old.status)
  execute function note_run_progress();
revoke execute on function note_run_progress from public;

-- The attempts of a run, oldest first: the first 10 and the last 40. An entry has `attempt` (its number, from
-- 1), `step`, `started_at`, `workflow_id`, and once it has ended `ended_at`, `outcome` and maybe `code`.
alter table pipeline_runs add column attempts jsonb not null default '[]';

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
revoke execute on function note_attempt from public;
