-- The audit chain. It is made from the transition log after a commit, so a change never waits for it. `canonical` is
-- the exact text that was hashed, because jsonb changes numbers and the order of keys.
create table audit_event (
  seq           bigint primary key check (seq >= 0),
  transition_id bigint not null constraint audit_event_once unique,
  canonical     text not null,
  prev_hash     text not null check (prev_hash ~ '^[0-9a-f]{64}$'),
  hash          text not null check (hash ~ '^[0-9a-f]{64}$')
);

-- The last event, and the last transition that the chain has processed, in (xid, id) order. seq -1: the chain has no
-- event.
create table audit_head (
  only_row boolean primary key default true check (only_row),
  seq      bigint not null check (seq >= -1),
  hash     text not null check (hash ~ '^[0-9a-f]{64}$'),
  last_xid xid8 not null,
  last_id  bigint not null
);
insert into audit_head (seq, hash, last_xid, last_id) values (-1, repeat('0', 64), '0', 0);

-- The server may add to the history, but not change or delete it.
do $$ begin
  if exists (select from pg_roles where rolname = 'berth_app') then
    revoke all on transition, audit_event, audit_head from berth_app;
    grant select, insert on transition, audit_event to berth_app;
    grant select, update on audit_head to berth_app;
  end if;
end $$;
