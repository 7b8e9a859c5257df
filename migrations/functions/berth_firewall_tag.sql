-- Returns a text that changes with every change of the firewall rules of the VPC: a hash of their ids and versions.
create or replace function berth_firewall_tag(of_vpc uuid) returns text language sql stable as $$
  select md5(coalesce(string_agg(id || ' ' || version, ',' order by id), '')) from firewall_rule where vpc_id = of_vpc $$;
