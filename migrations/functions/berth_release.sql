-- Gives a value back to its pool and merges it with the free ranges next to it. Raises an error if the value is free
-- already, because the caller then has a bug. Processes of earlier releases name a fixed pool (public:v4 or public:v6)
-- for the address of every NAT gateway. So an address that is given back to a fixed pool goes to the pool whose network
-- contains it. If no network contains the address, its external subnet was deleted, and nothing happens.
create or replace function berth_release(of_pool text, value text) returns void language plpgsql volatile as $$
declare
  base   inet;
  spot   bigint;
  low_of bigint;
  next   record;
begin
  if of_pool like 'public:%' then
    select p.id into of_pool from pool p where p.network >>= value::inet;
    if not found then return; end if;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('pool:' || of_pool, 0));
  select p.base into strict base from pool p where p.id = of_pool;
  spot := case when base is null then value::bigint else value::inet - base end;
  select low, high into next from pool_range where pool_id = of_pool and high >= spot order by high limit 1;
  if next.low <= spot then
    raise exception using errcode = 'check_violation', constraint = 'pool_value_free_already';
  end if;
  delete from pool_range where pool_id = of_pool and high = spot - 1 returning low into low_of;
  if next.low = spot + 1 then
    update pool_range set low = coalesce(low_of, spot) where pool_id = of_pool and high = next.high;
  else
    insert into pool_range (pool_id, low, high) values (of_pool, coalesce(low_of, spot), spot);
  end if;
end $$;
