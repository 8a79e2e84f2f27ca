-- Sessions of the Model Context Protocol. Any API process serves them: nothing is in memory alone.

create table mcp_sessions (
  id uuid primary key,
  organization_id uuid not null references organizations,
  -- Whose it is: the user, and the API key if it was begun with one.
  user_id uuid not null,
  api_key_id uuid,
  protocol_version text not null,
  -- As the client said at the beginning.
  client_capabilities jsonb not null default '{}',
  -- The addresses of the documents whose changes the client asked to hear of.
  subscriptions text[] not null default '{}',
  -- How far in the log of events the client has been told what it asked for.
  position bigint not null,
  -- The stream of notifications that serves the session now: the one that was opened last.
  stream_id uuid,
  created_at timestamptz not null default now(),
  used_at timestamptz not null default now()
);
create index on mcp_sessions (user_id, created_at);
create index on mcp_sessions (used_at);

-- Requests whose answer is a stream, while they run and for a short time after, so that a client that lost
-- the connection gets the rest from any process, and any process can cancel them.
create table mcp_answers (
  stream_id uuid primary key,
  organization_id uuid not null,
  session_id uuid not null references mcp_sessions on delete cascade,
  -- The JSON-RPC id, as JSON.
  request_id text not null,
  api_process_id uuid not null,
  -- What the caller reached when it began, and the documents that the answer may tell of: whoever does not
  -- reach all of them any more does not get the rest.
  space_ids uuid[] not null,
  document_ids uuid[] not null default '{}',
  created_at timestamptz not null default now(),
  -- When somebody last read it again.
  read_at timestamptz not null default now(),
  cancelled_at timestamptz,
  ended_at timestamptz
);
create index on mcp_answers (session_id, request_id);
create index on mcp_answers (created_at);

-- The messages of such an answer, sealed with the organization's key.
create table mcp_answer_messages (
  stream_id uuid not null references mcp_answers on delete cascade,
  organization_id uuid not null,
  no int not null,
  key_id uuid not null,
  sealed bytea not null,
  primary key (stream_id, no)
);
