-- Returns whether the firewall rules of the VPC {vpc_id} are unchanged: whether their hash (berth_firewall_tag) still
-- equals {tag}. The caller must hold the VPC's lock exclusively.
create or replace function guard_firewall_rules_are(args jsonb) returns boolean language sql volatile as $$
  select berth_firewall_tag((args->>'vpc_id')::uuid) = args->>'tag' $$;
