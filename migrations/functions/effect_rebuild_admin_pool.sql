-- Builds the free ranges of the admin pool from the boot policy: the addresses between start and end, without the
-- addresses of the gateway and of the boot records. Boot records keep their addresses. `more` has the ranges of further
-- networks. All ranges are offsets from the address `network`.
create or replace function effect_rebuild_admin_pool(args jsonb) returns void language plpgsql volatile as $$
declare
  block inet := (args->>'network')::inet;
begin
  perform pg_advisory_xact_lock(hashtextextended('pool:admin-network', 0));
  delete from pool_range where pool_id = 'admin-network';
  update pool set base = block where id = 'admin-network';
  if block is null then
    return;
  end if;
  -- Finds the gaps between taken addresses from `low` to `high`, both included. The query does not visit every address,
  -- because a block may be too large for that.
  insert into pool_range (pool_id, low, high)
    select 'admin-network', before + 1, n - 1
      from jsonb_array_elements(jsonb_build_array(args) || coalesce(args->'more', '[]')) network, lateral (
        select n, lag(n, 1, (network->>'low')::bigint - 1) over (order by n) as before
          from (select value::bigint from jsonb_array_elements_text(network->'except')
                 union select r.address - block from boot_record r where r.address is not null
                 union select (network->>'high')::bigint + 1) taken(n)
         where n between (network->>'low')::bigint and (network->>'high')::bigint + 1) gaps
     where n - before > 1;
end $$;
