-- The one clock of the system: the database's, plus the offset that the laboratory may set. Every deadline, expiry and
-- timestamp comes from here, never from a process.
create table lab_clock (
  only_row boolean primary key default true check (only_row),
  ahead    interval not null default interval '0' check (ahead >= interval '0')
);
insert into lab_clock default values;

-- Milliseconds are what the wire and the processes carry, so no finer instant is ever stored or compared.
create function berth_now() returns timestamptz language sql volatile parallel safe as
  $$ select date_trunc('milliseconds', clock_timestamp()) + ahead from lab_clock $$;
