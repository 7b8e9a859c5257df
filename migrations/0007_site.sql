-- The site: state that applies to all nodes, in one row. Its auto-approve window is open or closed. The budget row
-- `auto-approve` counts the remaining approvals, so the commit that inserts a node can take one of them.
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
  check (window_expires_at <= window_opened_at + interval '86400 seconds')
);
insert into actor_kind values ('site', 'site', 'id', 'text');

-- The cluster settings that differ from their defaults.
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
