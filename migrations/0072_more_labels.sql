-- Labels of the other objects of tenants. Lists can be filtered by label.
alter table project       add column labels jsonb not null default '{}' check (jsonb_typeof(labels) = 'object');
alter table ssh_key       add column labels jsonb not null default '{}' check (jsonb_typeof(labels) = 'object');
alter table image         add column labels jsonb not null default '{}' check (jsonb_typeof(labels) = 'object');
alter table firewall_rule add column labels jsonb not null default '{}' check (jsonb_typeof(labels) = 'object');
alter table floating_ip   add column labels jsonb not null default '{}' check (jsonb_typeof(labels) = 'object');
-- Disks and snapshots are rows of this table.
alter table disk          add column labels jsonb not null default '{}' check (jsonb_typeof(labels) = 'object');
alter table nic           add column labels jsonb not null default '{}' check (jsonb_typeof(labels) = 'object');

-- Creates the view again, with the new column of the floating IP.
drop view floating_ip_loaded;
create view floating_ip_loaded as
  select f.*, s.vlan_id from floating_ip f left join external_subnet s on s.id = f.network_id;
