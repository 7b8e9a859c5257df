-- The audit chain, made from the transition log after the fact: a mutation never waits for it. Each event holds the
-- very text that was hashed, since jsonb rewrites numbers and key order. Document 4, section 6.
create table audit_event (
  seq           bigint primary key check (seq >= 0),
  transition_id bigint not null constraint audit_event_once unique,
  canonical     text not null,
  prev_hash     text not null check (prev_hash ~ '^[0-9a-f]{64}$'),
  hash          text not null check (hash ~ '^[0-9a-f]{64}$')
);

-- The last event, and the transition up to which everything has been chained, in (xid, id) order. seq -1: none yet.
create table audit_head (
  only_row boolean primary key default true check (only_row),
  seq      bigint not null check (seq >= -1),
  hash     text not null check (hash ~ '^[0-9a-f]{64}$'),
  last_xid xid8 not null,
  last_id  bigint not null
);
insert into audit_head (seq, hash, last_xid, last_id) values (-1, repeat('0', 64), '0', 0);

-- The server itself may add to the history but never change or shorten it.
do $$ begin
  if exists (select from pg_roles where rolname = 'berth_app') then
    revoke all on transition, audit_event, audit_head from berth_app;
    grant select, insert on transition, audit_event to berth_app;
    grant select, update on audit_head to berth_app;
  end if;
end $$;
