-- Responses of OpenAI's interface: turns whose answer is kept, so that it can be read, gone on from and, with
-- `background`, finished by another process.

-- A response may ask the configured model itself, without an agent. Versions before this one write both always.
alter table turns alter column agent_id drop not null, alter column space_id drop not null;

create table responses (
  -- The id of its (first) turn.
  id uuid primary key,
  organization_id uuid not null references organizations,
  -- The API key, else the user: nobody else reads it.
  caller_id uuid not null,
  user_id uuid not null,
  api_key_id uuid,
  status text not null
    check (status in ('queued', 'in_progress', 'completed', 'failed', 'cancelled', 'incomplete')),
  is_background boolean not null,
  -- The process that has it in hand, and how often one has taken it: the fence of what is written.
  api_process_id uuid not null,
  attempt int not null default 1,
  -- How many of the attempts an outage ended, the code of the last one while it is waited for, and until when.
  outages int not null default 0,
  waiting_for text,
  retry_at timestamptz,
  -- Documents that the answer may rest on, or that of a response before it.
  document_ids uuid[] not null default '{}',
  -- What was asked, and the response as it ended.
  request_key_id uuid not null,
  sealed_request bytea not null,
  response_key_id uuid,
  sealed_response bytea,
  -- The ids of its output's items, by which later requests may refer to them.
  item_ids uuid[] not null default '{}',
  created_at timestamptz(3) not null,
  expires_at timestamptz not null
);
create index on responses (expires_at);
create index on responses (organization_id);
create index responses_with_item on responses using gin (item_ids);
create index responses_under_way on responses (api_process_id)
  where is_background and status in ('queued', 'in_progress');
call protect_tenant_table('responses');
call open_to_system('responses');

-- Events first_no to last_no of a background response, in one sealed list.
create table response_events (
  response_id uuid not null references responses on delete cascade,
  organization_id uuid not null,
  first_no int not null,
  last_no int not null,
  key_id uuid not null,
  sealed bytea not null,
  primary key (response_id, first_no)
);
call protect_tenant_table('response_events');
