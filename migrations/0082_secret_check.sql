-- A value that is derived from the server's secret, and does not reveal it. A server with another secret could not
-- decrypt what the other servers of this database encrypt, so it refuses to start. Only the owner can delete the row.
create table secret_check (
  only_row   boolean primary key default true check (only_row),
  derived    bytea not null check (octet_length(derived) = 32),
  created_at timestamptz not null default berth_now()
);
do $$ begin
  if exists (select from pg_roles where rolname = 'berth_app') then
    revoke all on secret_check from berth_app;
    grant select, insert on secret_check to berth_app;
  end if;
  if exists (select from pg_roles where rolname = 'berth_reader') then
    revoke all on secret_check from berth_reader;
  end if;
end $$;
