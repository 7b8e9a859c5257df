-- Setup of bare machines: what a node's record holds of it. Document 2, CN record and States.

-- An epoch names one setup run. It never repeats, across reset, remove and announce, so that a report of an older run can
-- be told for what it is.
create sequence setup_epoch;

alter table cn
  -- The MACs of its network ports, canonical, as it announced them.
  add column macs               text[] not null default '{}',
  add column conflict           jsonb,
  add column setup_epoch        bigint,
  add column setup_operation_id uuid,
  add column bundle_taken       boolean not null default false,
  -- sha512-crypt; kept by factory reset.
  add column root_password_hash text,
  add constraint cn_setup_run check ((state = 'setting_up') = (setup_epoch is not null));
create index cn_by_mac on cn using gin (macs);

alter table cn_placement add column traits jsonb not null default '{}';

-- Satellites of a node: gone with it. Written by agents from a later part on.
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

-- A reservoir row that only holds traits must not hide the cluster defaults, and the reverse: both are nullable.
drop view cn_loaded;
create view cn_loaded as
  select cn.*, s.last_seen, s.last_status, p.reservoir_enabled, p.reservoir_percent, coalesce(p.traits, '{}') as traits,
         array(select r.mac from boot_record r where r.server_uuid = cn.server_uuid order by r.mac) as bound_macs
    from cn left join cn_signal s using (server_uuid) left join cn_placement p using (server_uuid);
