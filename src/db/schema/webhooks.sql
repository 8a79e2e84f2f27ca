-- Endpoints that events are delivered to, and what became of each delivery.

create table webhooks (
  id uuid primary key,
  organization_id uuid not null references organizations,
  -- Null: of the organization, without its private spaces.
  space_id uuid references spaces,
  -- Its maker, whose reach bounds what it carries.
  created_by uuid not null references users,
  url text not null,
  -- Empty: all types.
  types text[] not null default '{}',
  description text,
  status text not null default 'active' check (status in ('active', 'paused', 'disabled')),
  -- Why it is not active; null if it is.
  status_reason text check (status_reason in ('by_user', 'reach_lost', 'failing', 'gone', 'deleted')),
  status_changed_at timestamptz(3) not null default now(),
  -- The secret that signs, sealed with the organization's key, and the one before as long as it signs too. A
  -- deleted endpoint has none.
  secret_key_id uuid,
  sealed_secret bytea,
  previous_secret_key_id uuid,
  sealed_previous_secret bytea,
  previous_until timestamptz(3),
  -- The last position of the log of which deliveries were made.
  position bigint not null,
  -- Since when no attempt has succeeded; null if the last one did.
  failing_since timestamptz(3),
  failures int not null default 0,
  -- Whether its workflow has nothing to do before `next_attempt_at`; new events start it again.
  is_resting boolean not null default true,
  next_attempt_at timestamptz(3),
  leased_until timestamptz,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- Deleted endpoints are 'disabled', and are removed in the background with their deliveries.
  deleted_at timestamptz(3) check (deleted_at is null or status = 'disabled'),
  check (deleted_at is not null or sealed_secret is not null)
);
create index on webhooks (organization_id, created_at);
create index on webhooks (space_id);
create index on webhooks (created_by);
create index webhooks_deleted on webhooks (deleted_at) where deleted_at is not null;
create index webhooks_at_rest on webhooks (organization_id, position) where status = 'active' and is_resting;

-- One row for each event and endpoint, and for each stretch of the log that was skipped as not kept.
create table webhook_deliveries (
  num bigint generated always as identity primary key,
  id uuid not null unique,
  organization_id uuid not null references organizations,
  webhook_id uuid not null references webhooks on delete cascade,
  -- All null for a stretch that was skipped.
  event_num bigint,
  event_id uuid,
  event_type text,
  resource_id uuid,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed', 'skipped')),
  -- Why it is not delivered: a code such as 'timeout' or 'status_500'.
  error_code text,
  attempts int not null default 0,
  next_attempt_at timestamptz(3) not null default now(),
  last_attempt_at timestamptz(3),
  http_status smallint,
  duration_ms int,
  -- The end of its three days, from its first attempt or from when it was asked for again.
  gives_up_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  completed_at timestamptz(3)
);
create unique index webhook_deliveries_event on webhook_deliveries (webhook_id, event_num);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at, num)
  where status = 'pending';
create index webhook_deliveries_list on webhook_deliveries (webhook_id, num desc);
create index webhook_deliveries_age on webhook_deliveries using brin (created_at);

-- Stretches of the log that somebody asked to be delivered again, until all their deliveries are made.
create table webhook_replays (
  id uuid primary key,
  organization_id uuid not null references organizations,
  webhook_id uuid not null references webhooks on delete cascade,
  -- Empty: those of the endpoint; else only such of them.
  types text[] not null default '{}',
  -- Which events of the stretch are meant: their `occurred_at` is from here on, and before there.
  occurred_from timestamptz(3) not null,
  occurred_until timestamptz(3) not null,
  -- The last position for which deliveries were made, and the last of the stretch. It is a little longer than
  -- the time, because positions follow commits.
  position bigint not null,
  until_position bigint not null,
  created_at timestamptz(3) not null default now(),
  completed_at timestamptz(3)
);
create index on webhook_replays (webhook_id) where completed_at is null;
