-- The one clock: the database's time plus the offset of the dev environment. The wire and the processes carry
-- milliseconds, so no finer instant is stored or compared.
create or replace function berth_now() returns timestamptz language sql volatile parallel safe as
  $$ select date_trunc('milliseconds', clock_timestamp()) + ahead from lab_clock $$;
