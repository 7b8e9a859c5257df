-- Returns a text that changes whenever a firewall rule of the VPC changes: a hash of the rules' ids and versions.
create or replace function berth_firewall_tag(of_vpc uuid) returns text language sql stable as $$
  select md5(coalesce(string_agg(id || ' ' || version, ',' order by id), '')) from firewall_rule where vpc_id = of_vpc $$;
