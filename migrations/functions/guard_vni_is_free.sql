-- Returns whether no VPC has the VNI {vni}. The caller must hold the lock pool:vni.
create or replace function guard_vni_is_free(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from vpc where vni = (args->>'vni')::int) $$;
