-- Returns the generation of a VPC in the snapshot of the calling statement: the number of its changes.
create or replace function berth_vpc_generation(of_vpc uuid) returns bigint language sql stable as $$
  select coalesce((select generation from vpc_generation where vpc_id = of_vpc), 0)
       + (select count(*) from vpc_change where vpc_id = of_vpc) $$;
