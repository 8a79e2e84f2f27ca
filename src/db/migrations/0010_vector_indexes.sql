-- Spaces whose vectors have an index of their own (embeddings_hnsw_<space>_<model>); a search uses it while the row is there.
create table vector_indexes (
  organization_num int not null,
  space_num int not null,
  model_num smallint not null,
  -- Vectors when it was built, and the latest run among them.
  built_rows int not null,
  built_run_num int not null,
  checked_at timestamptz not null default now(),
  primary key (space_num, model_num)
);
call protect_tenant_table('vector_indexes');
call open_to_system('vector_indexes');
grant select on embedding_models to holdfast_system;
