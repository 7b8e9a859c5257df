-- The tables that the engine uses. Only commit_units writes the rows of actors; it also writes to these tables.

-- The table of each actor kind. The commit call writes actor rows only to tables in this list.
create table actor_kind (
  kind       text primary key,
  table_name name not null unique,
  key_column name not null,
  key_type   name not null default 'uuid'
);

-- The history: one row per message and actor. seq is the version of the actor's row, so it has no gaps within an
-- incarnation.
create table transition (
  id          bigint generated always as identity primary key,
  xid         xid8 not null default pg_current_xact_id(),
  actor_kind  text not null,
  actor_id    text not null,
  incarnation uuid not null,
  seq         bigint not null check (seq > 0),
  event       text not null,
  from_state  text not null,
  to_state    text not null,
  msg_id      uuid not null,
  at          timestamptz not null,
  audit       jsonb,
  constraint transition_one_writer unique (actor_kind, actor_id, incarnation, seq)
);
-- The audit chain reads the audited transitions in (xid, id) order.
create index transition_audited on transition (xid, id) where audit is not null;

-- The reply to each message, also a refusal. A reply is JSON text that is stored and returned unchanged. Message ids
-- are UUIDv7, so the ids of one day are a range.
create table seen (
  msg_id uuid primary key,
  reply  text not null
) partition by range (msg_id);
create table seen_other partition of seen default;

-- The lowest UUIDv7 of a day: 48 bits of milliseconds, then zeros.
create function seen_bound(day date) returns uuid language sql immutable strict as $$
  select (lpad(to_hex((extract(epoch from day::timestamp) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid $$;

-- Creates the partitions of the days from yesterday to the day after tomorrow. Drops the partitions of days that are
-- more than keep_days days ago. Runs with the rights of its owner, because the server may not alter tables.
create function seen_maintain(keep_days int default 1) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  day  date;
  part record;
begin
  perform pg_advisory_xact_lock(hashtextextended('berth:seen_maintain', 0));
  for day in select generate_series(current_date - 1, current_date + 2, interval '1 day')::date loop
    if to_regclass(format('seen_%s', to_char(day, 'YYYYMMDD'))) is null then
      begin
        execute format('create table %I partition of seen for values from (%L) to (%L)',
          'seen_' || to_char(day, 'YYYYMMDD'), seen_bound(day), seen_bound(day + 1));
      exception when check_violation then
        -- Ids of that day are in the default partition already (a process clock ran ahead); they stay there.
        null;
      end;
    end if;
  end loop;
  for part in select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
              where i.inhparent = 'seen'::regclass and c.relname ~ '^seen_[0-9]{8}$'
                and to_date(right(c.relname, 8), 'YYYYMMDD') < current_date - keep_days loop
    execute format('drop table %I', part.relname);
  end loop;
end $$;
select seen_maintain();

-- Tells that are not delivered yet. A tell is delivered at least once, and tells arrive in any order.
create table outbox (
  id         uuid primary key,
  to_kind    text not null,
  to_id      text not null,
  message    jsonb not null,
  created_at timestamptz not null default berth_now()
);

-- Counters of what may still be taken, such as the approvals of an auto-approve window. Null in remaining: no limit.
create table budget (
  name       text primary key,
  remaining  bigint,
  expires_at timestamptz,
  constraint budget_not_overspent check (remaining >= 0)
);

-- Pools of addresses and numbers. A value is base + offset. The free values are stored as ranges of offsets. When a
-- value becomes free, it is merged with the adjacent ranges.
create table pool (
  id   text primary key,
  base inet
);
create table pool_range (
  pool_id text not null references pool (id) on delete cascade,
  low     bigint not null,
  high    bigint not null check (high >= low),
  primary key (pool_id, low)
);
