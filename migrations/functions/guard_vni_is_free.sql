-- Returns whether the VNI {vni} is free: no VPC has it, and no node can still have a deleted VPC with it. The caller
-- must hold the lock pool:vni.
create or replace function guard_vni_is_free(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from vpc where vni = (args->>'vni')::int)
     and not exists (select from ended_vpc e join vpc_realization r using (vpc_id)
                      where e.vni = (args->>'vni')::int) $$;
