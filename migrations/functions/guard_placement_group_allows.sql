-- Returns 'true' if the placement group {placement_group_id} allows its instance {instance_id} on the node
-- {server_uuid}, otherwise the reason why not. A group with the strictness `preferred` allows every node. The filter
-- cn-affinity-required of src/lib/placement checks the same rules. {leaves}, if given, is a node that is being emptied:
-- an affinity group ignores its instances on this node, because they will move too. The caller must hold the lock of
-- the group.
create or replace function guard_placement_group_allows(args jsonb) returns text language plpgsql volatile as $$
declare
  of_cn  constant uuid := (args->>'server_uuid')::uuid;
  of_group record;
  place  text;
  others bigint;
  beside bigint;
begin
  select g.id, g.name, g.policy, g.level into of_group from placement_group g
   where g.id = (args->>'placement_group_id')::uuid and g.strictness = 'required';
  if not found then return 'true'; end if;
  place := case of_group.level when 'node' then of_cn::text
           else (select p.fault_domain from cn_placement p where p.server_uuid = of_cn) end;
  if place is null then return format('it has no fault domain, which placement group %s needs', of_group.name); end if;
  select count(*), count(*) filter (
           where place = case of_group.level when 'node' then h.server_uuid::text else h.fault_domain end)
    into others, beside
    from placement_group_hosts(of_group.id) h
   where h.instance_id <> (args->>'instance_id')::uuid
     and (of_group.policy = 'anti_affinity' or h.server_uuid is distinct from (args->>'leaves')::uuid);
  if of_group.policy = 'anti_affinity' and beside > 0 then
    return format('another instance of placement group %s is %s', of_group.name,
                  case of_group.level when 'node' then 'on the same node' else 'in the same fault domain' end);
  end if;
  if of_group.policy = 'affinity' and others > 0 and beside = 0 then
    return format('the instances of placement group %s are %s', of_group.name,
                  case of_group.level when 'node' then 'on another node' else 'in another fault domain' end);
  end if;
  return 'true';
end $$;
