-- The tables of the engine. Rows of actors are written only by commit_units; these are what it writes beside them.

-- Where the rows of each actor kind live. The commit call writes actor rows only through this list.
create table actor_kind (
  kind       text primary key,
  table_name name not null unique,
  key_column name not null,
  key_type   name not null default 'uuid'
);

-- One row per message and actor: the history. seq is gapless within an incarnation, since it is the row's version.
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
-- The audit chain reads these in (xid, id) order.
create index transition_audited on transition (xid, id) where audit is not null;

-- What each message was answered, refusals included, as JSON text that is passed through unread. Message ids are UUIDv7,
-- so a day is a range of ids.
create table seen (
  msg_id uuid primary key,
  reply  text not null
) partition by range (msg_id);
create table seen_other partition of seen default;

-- The first UUIDv7 of a day: 48 bits of milliseconds, then zeros.
create function seen_bound(day date) returns uuid language sql immutable strict as $$
  select (lpad(to_hex((extract(epoch from day::timestamp) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid $$;

-- Makes today's and tomorrow's partition and drops what is older than the given days. Runs as its owner, since the
-- server itself may not change tables.
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

-- Tells that wait for delivery: at least once, in any order.
create table outbox (
  id         uuid primary key,
  to_kind    text not null,
  to_id      text not null,
  message    jsonb not null,
  created_at timestamptz not null default berth_now()
);

-- What may be taken only so often: a window's approvals, a quota, room on a node. null remaining means unlimited.
create table budget (
  name       text primary key,
  remaining  bigint,
  expires_at timestamptz,
  constraint budget_not_overspent check (remaining >= 0)
);

-- Address and number pools. A value is base + offset; free space is kept as ranges of offsets, merged at release.
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
