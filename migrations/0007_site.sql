-- The site: what holds for every node. One row; the auto-approve window is open or closed.
-- How many approvals are left is the budget row `auto-approve`, so that the insert of a node takes from it.
create table site (
  id                text primary key check (id = 'site'),
  incarnation       uuid not null,
  version           bigint not null check (version > 0),
  wake_at           timestamptz,
  state             text not null check (state in ('window_closed', 'window_open')),
  window_opened_at  timestamptz,
  window_expires_at timestamptz,
  window_count      bigint check (window_count > 0),
  window_opened_by  uuid,
  check ((state = 'window_open') = (window_opened_at is not null and window_expires_at is not null
                                    and window_opened_by is not null)),
  -- Document 2, Limits.
  check (window_expires_at <= window_opened_at + interval '86400 seconds')
);
insert into actor_kind values ('site', 'site', 'id', 'text');

-- Cluster settings that differ from their default. Document 4, section 7.
create table setting (
  key         text primary key,
  incarnation uuid not null,
  version     bigint not null check (version > 0),
  wake_at     timestamptz,
  state       text not null check (state = 'set'),
  value       jsonb not null,
  updated_at  timestamptz not null
);
insert into actor_kind values ('setting', 'setting', 'key', 'text');
