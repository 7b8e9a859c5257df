-- Lists where the instances of a placement group are: their nodes, and both nodes of an instance that moves.
create or replace function placement_group_hosts(group_id uuid)
returns table (instance_id uuid, server_uuid uuid, fault_domain text) language sql stable as $$
  select h.instance_id, h.server_uuid, p.fault_domain
    from (select i.id as instance_id, i.host_cn_uuid as server_uuid from instance i
           where i.placement_group_id = group_id and i.host_cn_uuid is not null
          union
          select i.id, cn from instance i join migration m on m.instance_id = i.id, unnest(array[m.source_cn, m.target_cn]) cn
           where i.placement_group_id = group_id and not berth_migration_ended(m.state)) h
    left join cn_placement p on p.server_uuid = h.server_uuid $$;
