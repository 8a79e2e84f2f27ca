-- Whether an agent's answers lose the marks whose source does not support them. Versions before 0.9.0 leave it out.

alter table agents add column require_support boolean not null default false;
