-- What nodes and keys tell all the time. Written in batches by upserts that need no version: the latest wins, and a
-- signal never changes the state of anything. Rows are updated in place (HOT), so no column but the key has an index.

-- Removing a node or a key removes its signals, also one that is being written at that moment.
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
