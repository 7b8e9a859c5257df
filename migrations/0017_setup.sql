-- The setup of bare machines (docs/nodes.md, "Setup on the node").

-- An epoch identifies one setup run. Epochs never repeat, even after a reset, a removal or a new announcement, so the
-- server recognizes a report of an older run.
create sequence setup_epoch;

alter table cn
  -- The MAC addresses of the node's network ports, in canonical form, as the node announced them.
  add column macs               text[] not null default '{}',
  add column conflict           jsonb,
  add column setup_epoch        bigint,
  add column setup_operation_id uuid,
  add column bundle_taken       boolean not null default false,
  -- sha512-crypt. A factory reset keeps it.
  add column root_password_hash text,
  add constraint cn_setup_run check ((state = 'setting_up') = (setup_epoch is not null));
create index cn_by_mac on cn using gin (macs);

alter table cn_placement add column traits jsonb not null default '{}';

-- Data that a node reports: its NIC tags, and a summary of its load.
create table cn_nic_tag (
  server_uuid  uuid not null references cn (server_uuid) on delete cascade,
  name         text not null,
  physical_nic text not null,
  vlan_id      int,
  mtu          int,
  primary key (server_uuid, name)
);
create table cn_load_summary (
  server_uuid       uuid primary key references cn (server_uuid) on delete cascade,
  summary           jsonb not null,
  last_refreshed_at timestamptz not null
);

-- A node may have no row in cn_placement. Then traits is an empty object, and the reservoir columns are null.
drop view cn_loaded;
create view cn_loaded as
  select cn.*, s.last_seen, s.last_status, p.reservoir_enabled, p.reservoir_percent, coalesce(p.traits, '{}') as traits,
         array(select r.mac from boot_record r where r.server_uuid = cn.server_uuid order by r.mac) as bound_macs
    from cn left join cn_signal s using (server_uuid) left join cn_placement p using (server_uuid);
