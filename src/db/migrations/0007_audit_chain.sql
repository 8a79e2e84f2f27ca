-- Audit rows are appended freely; a job chains committed rows of each organization by a keyed hash, so that writers never wait for one another.

alter table audit_log add column chain_seq bigint;
alter table audit_log add column chain_hash bytea;
create index audit_log_unchained on audit_log (organization_id, at, id) where chain_seq is null;
create unique index audit_log_chain on audit_log (organization_id, chain_seq) where chain_seq is not null;
-- Rows come in through append_audit_rows alone.
revoke insert, update, delete on audit_log from holdfast_app;

-- The chain's end, and its beginning: the last row that was deleted by its age.
create table audit_chains (
  organization_id uuid primary key references organizations,
  base_seq bigint not null default 0,
  base_hash bytea not null default '',
  seq bigint not null default 0,
  hash bytea not null default ''
);
call protect_tenant_table('audit_chains');
revoke insert, update, delete on audit_chains from holdfast_app;
