-- Deletions and batches are started in turns: few of an organization at once, so that a thousand of one keep nobody else waiting.

-- When a workflow was first asked for; null while it waits for its turn, and where the version before started it.
alter table deletions add column started_at timestamptz;
alter table batches add column started_at timestamptz;

create index deletions_waiting on deletions (organization_id, created_at) where completed_at is null;
create index batches_waiting on batches (organization_id, created_at) where completed_at is null;
-- Those under way, among however many that wait.
create index deletions_under_way on deletions (organization_id) where completed_at is null and (started_at is not null or leased_until is not null);
create index batches_under_way on batches (organization_id) where completed_at is null and (started_at is not null or leased_until is not null);
