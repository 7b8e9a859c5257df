-- The functions and triggers of this release are in migrations/functions, one in each file. The migrator applies them
-- after the numbered migrations, and records them in this table. It applies a file again when its checksum differs.
create table schema_function (
  -- File name without .sql, which is also the function's name.
  name       text primary key,
  sha256     text not null,
  -- The release that applied it. An older release leaves the functions of a newer one as they are.
  release    text not null,
  applied_at timestamptz not null default now()
);

-- The server may read this table, but not change it.
do $$ begin
  if exists (select from pg_roles where rolname = 'berth_app') then
    revoke insert, update, delete on schema_function from berth_app;
  end if;
end $$;
