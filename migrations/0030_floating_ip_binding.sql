-- How a floating IP is attached to a NIC, moved and detached (docs/networking.md, "Floating IPs"). A floating IP has
-- one operation at a time. During the operation, the record contains the previous binding, so that the operation can
-- restore it.
alter table floating_ip
  -- Increases with every order to a node, so that a node recognizes the newer of two orders.
  add column generation        bigint not null default 0 check (generation >= 0),
  add column operation_id      uuid,
  add column operation_kind    text check (operation_kind in ('attach', 'detach')),
  add column prior_nic_id      uuid,
  add column prior_instance_id uuid,
  add column prior_cn          uuid,
  -- The job id in the tell that an unwinding operation waits for. It is set while a node binds the address again.
  add column reclaimed_as      uuid,
  add constraint floating_ip_bound_whole check (num_nulls(attached_to, attached_instance_id, hosted_cn) in (0, 3)),
  add constraint floating_ip_prior_whole check (num_nulls(prior_nic_id, prior_instance_id, prior_cn) in (0, 3)),
  add constraint floating_ip_operation_whole check ((operation_id is null) = (operation_kind is null)),
  add constraint floating_ip_at_rest check (operation_id is not null or num_nulls(prior_nic_id, reclaimed_as) = 2);

-- INV-15: a floating IP is attached only to a NIC of its own project.
alter table nic add constraint nic_owner unique (id, instance_id, tenant_id, project_id);
alter table floating_ip add constraint floating_ip_bound_to_nic
  foreign key (attached_to, attached_instance_id, tenant_id, project_id)
  references nic (id, instance_id, tenant_id, project_id);

create index floating_ip_of_instance on floating_ip (attached_instance_id) where attached_instance_id is not null;
create index floating_ip_from_instance on floating_ip (prior_instance_id) where prior_instance_id is not null;
create index job_of_floating_ip on job ((payload->>'floating_ip_id')) where payload ? 'floating_ip_id';

-- A floating IP with the VLAN of its network, as the engine loads it.
create view floating_ip_loaded as
  select f.*, s.vlan_id from floating_ip f left join external_subnet s on s.id = f.network_id;

-- Whether the node {server_uuid} was seen in the last {live_s} seconds.
create function guard_cn_is_live(args jsonb) returns boolean language sql volatile as $$
  select exists (select from cn_signal where server_uuid = (args->>'server_uuid')::uuid
                    and last_seen >= berth_now() - make_interval(secs => (args->>'live_s')::int)) $$;
-- Whether the node {server_uuid} reports the NIC tag {nic_tag}.
create function guard_cn_offers_nic_tag(args jsonb) returns boolean language sql volatile as $$
  select exists (select from cn_capacity where server_uuid = (args->>'server_uuid')::uuid
                    and report->'nic_tags' ? (args->>'nic_tag')) $$;
-- Returns the operation of a floating IP of the instance {instance_id}, or 'true'.
create function guard_floating_ips_rest(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select operation_id::text from floating_ip
      where attached_instance_id = (args->>'instance_id')::uuid and operation_id is not null limit 1),
    (select operation_id::text from floating_ip where prior_instance_id = (args->>'instance_id')::uuid limit 1),
    'true') $$;
-- Returns a node that may still answer for the floating IP {floating_ip_id}, or 'true'. Such a node has an order that
-- it has not carried out or undone yet. A removed node is never returned.
create function guard_floating_ip_is_off_nodes(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select target_cn::text from job
      where payload ? 'floating_ip_id' and payload->>'floating_ip_id' = args->>'floating_ip_id'
        and (state in ('pending', 'in_progress') or tombstone)
        and exists (select from cn where server_uuid = target_cn) order by seq limit 1),
    'true') $$;
