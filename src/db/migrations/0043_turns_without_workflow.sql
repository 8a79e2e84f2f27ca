-- Chat goes on while Temporal is away: a turn that ended without a bookkeeping workflow waits here for one that
-- adopts it. Null: there is nothing to adopt. Otherwise the time from which a workflow may be started for it,
-- which is moved on by whoever starts one (a lease).
alter table turns add column adopt_after timestamptz;
-- Oldest first. The table takes no writes while the index is made; chat answers meanwhile.
create index turns_to_adopt on turns (ended_at) where adopt_after is not null;
