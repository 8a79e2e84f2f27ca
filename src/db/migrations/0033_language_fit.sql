-- How well an embedding model tells the texts of a space apart, as index upkeep measured it last on the space's own vectors
-- (src/db/search/index/language-fit.ts).
create table language_fits (
  organization_num int not null,
  space_num int not null references spaces (num) on delete cascade,
  model_num smallint not null,
  -- The share of comparisons in which the next chunk of the document is nearer than a chunk of another document; null where too few could be made.
  auc real,
  -- Pairs of a chunk and its next one that were compared.
  pairs int not null,
  -- Published chunks of the space with the model's vectors at that time.
  chunks_measured int not null,
  measured_at timestamptz not null default now(),
  primary key (space_num, model_num)
);
call protect_tenant_table('language_fits');
-- Which spaces are due is found across organizations; nothing is written there.
create policy system on language_fits to holdfast_system using (true) with check (true);
grant select on language_fits to holdfast_system;
