-- Rate limits, shared by all processes. They mean nothing after a crash, so they are not logged.

-- full_at is the moment at which the bucket will be full again; each taken token moves it on by one refill. A row whose
-- moment has passed says the same as no row.
create unlogged table rate_bucket (
  bucket  text primary key check (length(bucket) <= 200),
  full_at timestamptz not null
) with (fillfactor = 50);

-- Failures over the whole site, per minute, so that a sliding hour can be summed. Logged: a crash must not give a
-- guesser a fresh hour.
create table failure_count (
  subject  text not null,
  minute   timestamptz not null,
  failures integer not null check (failures > 0),
  primary key (subject, minute)
) with (fillfactor = 50);
