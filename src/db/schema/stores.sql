-- What OpenAI's Files and Vector Stores have beyond documents and folders.

-- A file that a user sent to /v1/files, encrypted once; documents made of it name the same object.
create table openai_files (
  id uuid primary key,
  organization_id uuid not null references organizations,
  user_id uuid not null references users,
  -- Keys that are narrowed to spaces see only what they sent themselves.
  api_key_id uuid,
  name text not null,
  purpose text not null,
  size bigint not null,
  content_type text not null,
  file_type text not null,
  sha256 text not null,
  object_key text collate "C" not null,
  -- In milliseconds, as cursors compare them.
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3)
);
create index openai_files_user on openai_files (user_id, created_at, id);
create index openai_files_object on openai_files (object_key);
create index openai_files_expiry on openai_files (organization_id, expires_at) where expires_at is not null;

-- What a folder that is used as a vector store has beyond a folder; those with a row are listed.
create table vector_stores (
  folder_id uuid primary key references folders on delete cascade,
  organization_id uuid not null references organizations,
  -- As it was given; `folder_name` is the folder's valid, unique form of it until people rename it.
  name text not null,
  folder_name text not null,
  description text,
  metadata jsonb not null default '{}',
  -- {max_chunk_size_tokens, chunk_overlap_tokens} of files that name none; null is the default chunker.
  chunking jsonb,
  expires_after_days int,
  created_at timestamptz(3) not null default now(),
  last_active_at timestamptz(3) not null default now(),
  -- When the schedule found it expired and had deleted what came in through the routes of stores.
  expired_at timestamptz(3)
);
create index vector_stores_listed on vector_stores (organization_id, created_at, folder_id);
create index vector_stores_expiry on vector_stores (organization_id)
  where expires_after_days is not null and expired_at is null;

-- A document that came in through the routes of vector stores, and the file that it was made of.
create table vector_store_files (
  document_id uuid primary key references documents on delete cascade,
  organization_id uuid not null references organizations,
  file_id uuid not null,
  -- As it was asked for; null for `auto`.
  chunking jsonb
);
create index vector_store_files_file on vector_store_files (file_id);

create table vector_store_batches (
  id uuid primary key,
  organization_id uuid not null references organizations,
  folder_id uuid not null references folders on delete cascade,
  document_ids uuid[] not null,
  created_at timestamptz(3) not null default now(),
  cancelled_at timestamptz(3)
);
create index vector_store_batches_folder on vector_store_batches (folder_id);
