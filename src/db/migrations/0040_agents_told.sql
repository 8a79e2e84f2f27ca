-- Each API process keeps agents for a moment, and drops the one whose id it hears here, or those of the space
-- with it, as soon as the change is committed and whoever made it. Counting an agent's conversations changes
-- nothing that a turn needs. Versions before do not listen.
create function tell_agents_changed() returns trigger language plpgsql
  set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_notify('holdfast_agents', new.id::text);
  return null;
end $$;
revoke execute on function tell_agents_changed() from public;

create trigger tell_agents_changed after update on agents for each row
  when (new.conversation_count = old.conversation_count)
  execute function tell_agents_changed();
create trigger tell_agents_changed after update on spaces for each row
  when (new.deleted_at is distinct from old.deleted_at)
  execute function tell_agents_changed();
