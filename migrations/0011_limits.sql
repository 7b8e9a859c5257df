-- Rate limits, shared by all processes. The table is unlogged, because its rows are not needed after a crash.

-- full_at is the time at which the bucket is full again. Each token that is taken adds the refill time of one token. A
-- row with a full_at in the past means the same as no row.
create unlogged table rate_bucket (
  bucket  text primary key check (length(bucket) <= 200),
  full_at timestamptz not null
) with (fillfactor = 50);

-- Failures of the whole site, counted by minute, so that the server can sum the last hour. The table is logged, so the
-- counts of somebody who guesses credentials survive a crash.
create table failure_count (
  subject  text not null,
  minute   timestamptz not null,
  failures integer not null check (failures > 0),
  primary key (subject, minute)
) with (fillfactor = 50);
