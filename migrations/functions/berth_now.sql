-- Returns Berth's current time: the database's time plus the offset of the dev environment, in milliseconds. Messages
-- and processes use milliseconds, so no finer time is stored or compared.
create or replace function berth_now() returns timestamptz language sql volatile parallel safe as
  $$ select date_trunc('milliseconds', clock_timestamp()) + ahead from lab_clock $$;
