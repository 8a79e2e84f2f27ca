-- Responses of OpenAI's interface: turns whose answer is kept, so that it can be read, gone on from and, with
-- `background`, finished by another process.

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
  -- Attempts that an outage ended, the code of the last one while it is waited for, and until when.
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
  expires_at timestamptz not null,
  -- Whether its items are rows of their own, sealed apart, so that a request opens only those that it
  -- answers, and a response that goes on from another refers to its items.
  is_itemized boolean not null default false,
  -- Sealed bytes of its events.
  event_bytes bigint not null default 0
);
create index on responses (expires_at);
create index on responses (organization_id);
create index responses_with_item on responses using gin (item_ids);
create index responses_under_way on responses (api_process_id)
  where is_background and status in ('queued', 'in_progress');

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

-- The input and the output of a response, under its id. They outlive it for as long as one goes on from it.
create table response_contents (
  organization_id uuid not null references organizations,
  id uuid not null,
  user_id uuid not null,
  -- The contents that come before these.
  before_id uuid,
  -- Sealed bytes of its own items.
  bytes bigint not null,
  -- Lengths of what the model is shown up to here: texts, and the addresses of pictures.
  text_characters bigint not null,
  image_characters bigint not null,
  primary key (organization_id, id),
  foreign key (organization_id, before_id) references response_contents
);
create index on response_contents (organization_id, before_id);

create table response_items (
  organization_id uuid not null,
  response_id uuid not null,
  is_output boolean not null,
  -- Counts from 0 in the input, and again in the output.
  place int not null,
  -- Of its id, which clients may choose.
  id_digest bytea not null,
  -- Whether a model that goes on from it is shown it.
  is_shown boolean not null,
  characters int not null,
  image_characters int not null,
  key_id uuid not null,
  sealed bytea not null,
  primary key (organization_id, response_id, is_output, place),
  foreign key (organization_id, response_id) references response_contents on delete cascade
);
-- Nothing that is sealed can be compressed.
alter table response_items alter column sealed set storage external;

-- How many sealed bytes of responses are kept for each user.
create table response_usage (
  organization_id uuid not null references organizations,
  user_id uuid not null,
  bytes bigint not null,
  primary key (organization_id, user_id)
);

-- With the rights of who writes. Triggers count, whoever writes and deletes.
create function count_response_bytes() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  of_organization uuid;
  of_user uuid;
  more bigint := 0;
begin
  if tg_op <> 'INSERT' then
    of_organization := old.organization_id;
    of_user := old.user_id;
    if tg_table_name = 'responses' then
      more := -octet_length(old.sealed_request) - coalesce(octet_length(old.sealed_response), 0) - old.event_bytes;
    else
      more := -old.bytes;
    end if;
  end if;
  if tg_op <> 'DELETE' then
    of_organization := new.organization_id;
    of_user := new.user_id;
    if tg_table_name = 'responses' then
      more := more + octet_length(new.sealed_request) + coalesce(octet_length(new.sealed_response), 0)
        + new.event_bytes;
    else
      more := more + new.bytes;
    end if;
  end if;
  if more > 0 then
    insert into response_usage as kept (organization_id, user_id, bytes)
    values (of_organization, of_user, more)
    on conflict (organization_id, user_id) do update
    set bytes = kept.bytes + excluded.bytes;
  elsif more < 0 then
    -- Never made here: the row of a closed organization may be gone before its responses are.
    update response_usage
    set bytes = bytes + more
    where organization_id = of_organization
      and user_id = of_user;
  end if;
  return null;
end $$;
create trigger count_response_bytes
  after insert or delete or update of sealed_request, sealed_response, event_bytes on responses
  for each row execute function count_response_bytes();
create trigger count_response_bytes
  after insert or delete or update of bytes on response_contents
  for each row execute function count_response_bytes();

-- Deletes the contents of a response that is gone, and then those before it, up to the first that a response
-- has or goes on from. Each statement sees what was committed before it: who goes on from them holds a lock
-- on their row.
create function release_response_contents() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  released uuid := old.id;
begin
  while released is not null loop
    perform 1
    from response_contents
    where organization_id = old.organization_id
      and id = released
    for update;
    exit when not found;
    exit when exists (select from responses where id = released);
    exit when exists (
      select
      from response_contents later
      where later.organization_id = old.organization_id
        and later.before_id = released
    );
    delete from response_contents
    where organization_id = old.organization_id
      and id = released
    returning before_id into released;
  end loop;
  return null;
end $$;
create trigger release_response_contents after delete on responses
  for each row execute function release_response_contents();
