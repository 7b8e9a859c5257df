-- The server's secret, if the server's environment does not set one. The role berth_reader must not read it.
create table server_secret (
  only_row   boolean primary key default true check (only_row),
  secret     bytea not null check (octet_length(secret) >= 32),
  created_at timestamptz not null default berth_now()
);
do $$ begin
  if exists (select from pg_roles where rolname = 'berth_app') then
    revoke all on server_secret from berth_app;
    grant select, insert on server_secret to berth_app;
  end if;
  if exists (select from pg_roles where rolname = 'berth_reader') then
    revoke all on server_secret from berth_reader;
  end if;
end $$;
