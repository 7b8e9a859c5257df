-- Returns 'true' if nothing uses the NIC tag {name}, otherwise a text that names objects that use it. The caller
-- must hold the tag's lock exclusively.
create or replace function guard_nic_tag_is_unused(args jsonb) returns text language sql volatile as $$
  select coalesce(berth_named(array(
    select format('external subnet %s (%s)', name, id) from external_subnet
      where nic_tag = args->>'name' order by id limit 6)), 'true') $$;
