-- How often each key, user and address asked in the running minute, counted by all API processes together. Not worth a log: a crash forgets a minute.
create unlogged table rate_limits (
  caller text primary key,
  minute bigint not null,
  count int not null
);
grant select, insert, update on rate_limits to holdfast_app;
grant select, delete on rate_limits to holdfast_system;
