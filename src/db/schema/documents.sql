-- Folders, documents and raw files.

create table folders (
  id uuid primary key,
  organization_id uuid not null references organizations,
  space_id uuid not null references spaces,
  parent_folder_id uuid references folders,
  name text not null,
  from_system boolean not null default false,
  created_by uuid references users,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz
);
create index on folders (space_id, parent_folder_id);
create index on folders (parent_folder_id);
create index on folders (space_id) where deleted_at is not null;

-- Names from the root joined by '/'; null for no folder.
create function folder_path(of_folder uuid) returns text language sql stable
  return (
    with recursive up as (
      select id, parent_folder_id, name, 1 as depth from folders where id = of_folder
      union all
      select f.id, f.parent_folder_id, f.name, up.depth + 1 from folders f join up on f.id = up.parent_folder_id where up.depth < 1000)
    select string_agg(name, '/' order by depth desc) from up);

-- `latest_run_num` is the run that processing_state shows; `published_run_num` is the one that search serves.
create table documents (
  id uuid primary key,
  num int generated always as identity unique,
  organization_id uuid not null references organizations,
  space_id uuid not null references spaces,
  space_num int not null,
  folder_id uuid references folders,
  name text not null,
  file_type text not null,
  file_size bigint not null,
  content_type text not null,
  metadata jsonb not null default '{}',
  extracted jsonb not null default '{}',
  created_by uuid not null references users,
  -- In milliseconds, as callers see them, so that a filter with a value that was read finds its row.
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  run_count int not null default 0,
  latest_run_num int,
  published_run_num int,
  published_version int,
  deleted_at timestamptz
);
create index on documents (space_id, created_at desc, id desc) where deleted_at is null;
create index on documents (space_id, file_type) where deleted_at is null;
create index on documents (folder_id) where folder_id is not null;
create index on documents (published_run_num);
create index on documents (latest_run_num);
create index on documents (space_id) where deleted_at is not null;
create index documents_long_history on documents (organization_id) where run_count > 50;

-- A stored file by its path in the space. `object_key` names the object; a rename changes the path.
create table raw_files (
  id uuid primary key,
  organization_id uuid not null references organizations,
  space_id uuid not null references spaces,
  path text not null,
  size bigint,
  content_type text,
  sha256 text,
  -- In the order in which stores list them.
  object_key text collate "C",
  document_id uuid references documents on delete set null,
  created_by uuid references users,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz
);
create unique index raw_files_path on raw_files (space_id, path collate "C") where deleted_at is null;
create index on raw_files (document_id);
create index raw_files_object on raw_files (object_key);

-- An upload under way: its object is not an orphan while the lease lives.
create table upload_intents (
  object_key text collate "C" primary key,
  organization_id uuid not null references organizations,
  leased_until timestamptz not null,
  created_at timestamptz not null default now()
);

-- Deletions that were accepted: the outbox of the deletion workflows.
create table deletions (
  id uuid primary key,
  organization_id uuid not null references organizations,
  kind text not null check (kind in ('document', 'raw_file', 'folder', 'space')),
  target_id uuid not null,
  created_by uuid,
  created_at timestamptz not null default now(),
  leased_until timestamptz,
  completed_at timestamptz,
  -- When a workflow was first asked for; null while it waits for its turn.
  started_at timestamptz
);
create index on deletions (created_at) where completed_at is null;
create index on deletions (completed_at) where completed_at is not null;
create index deletions_waiting on deletions (organization_id, created_at) where completed_at is null;
-- Those under way, among however many that wait.
create index deletions_under_way on deletions (organization_id)
  where completed_at is null and (started_at is not null or leased_until is not null);
