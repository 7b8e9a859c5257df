-- Returns whether the silo {silo_id} may use the external subnet {network_id}. If {network_pool_id} is given, the pool
-- must contain the subnet, and the silo must be allowed to use the pool as well.
create or replace function guard_external_network_is_offered(args jsonb) returns boolean language sql volatile as $$
  select exists (select from external_subnet s
                  where s.id = (args->>'network_id')::uuid
                    and (s.owner_silos = '{}' or (args->>'silo_id')::uuid = any(s.owner_silos)))
     and (args->>'network_pool_id' is null or exists (
           select from network_pool p
            where p.id = (args->>'network_pool_id')::uuid and (args->>'network_id')::uuid = any(p.networks)
              and (p.owner_silos = '{}' or (args->>'silo_id')::uuid = any(p.owner_silos)))) $$;
