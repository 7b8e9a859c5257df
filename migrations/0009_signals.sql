-- Signals: what nodes report continuously, and the last use of each key. They are written in batches by upserts without
-- a version check: the latest value wins, and a signal never changes the state of an actor. Updates are in place (HOT),
-- because only the key column has an index.

-- If a node or a key is deleted, its signals are deleted too, even a signal that is written at the same time.
create table cn_signal (
  server_uuid uuid primary key references cn (server_uuid) on delete cascade,
  last_seen   timestamptz not null,
  last_status jsonb,
  status_at   timestamptz
) with (fillfactor = 50);

create table cn_capacity (
  server_uuid uuid primary key references cn (server_uuid) on delete cascade,
  report      jsonb not null,
  reported_at timestamptz not null
) with (fillfactor = 50);

create table api_key_use (
  key_id       uuid primary key references api_key (id) on delete cascade,
  last_used_at timestamptz not null
) with (fillfactor = 50);
