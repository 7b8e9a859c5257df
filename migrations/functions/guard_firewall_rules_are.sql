-- Returns whether the firewall rules of the VPC {vpc_id} still have the tag {tag}. The caller must hold the VPC's lock
-- exclusively.
create or replace function guard_firewall_rules_are(args jsonb) returns boolean language sql volatile as $$
  select berth_firewall_tag((args->>'vpc_id')::uuid) = args->>'tag' $$;
