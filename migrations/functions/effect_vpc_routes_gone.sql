-- Deletes the routes of a VPC that is being deleted. They are all in the VPC's main route table, the only one that is
-- left.
create or replace function effect_vpc_routes_gone(args jsonb) returns void language sql volatile as $$
  delete from route where vpc_id = (args->>'vpc_id')::uuid $$;
