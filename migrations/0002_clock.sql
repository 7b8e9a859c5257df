-- The clock of the server: the database's clock plus an offset that the development environment can set. Every
-- deadline, expiry and timestamp that the server sets in a row is from this clock, not from the clock of a process.
create table lab_clock (
  only_row boolean primary key default true check (only_row),
  ahead    interval not null default interval '0' check (ahead >= interval '0')
);
insert into lab_clock default values;

-- The API and the processes use milliseconds, so no time with a higher resolution is stored or compared.
create function berth_now() returns timestamptz language sql volatile parallel safe as
  $$ select date_trunc('milliseconds', clock_timestamp()) + ahead from lab_clock $$;
