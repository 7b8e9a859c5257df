-- Returns the first of the ids {networks} that is not an external subnet, or 'true' if all are external subnets. The
-- caller must hold the locks of all these subnets, shared.
create or replace function guard_external_subnets_exist(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select g.id from jsonb_array_elements_text(args->'networks') with ordinality g(id, n)
      where not exists (select from external_subnet s where s.id = g.id::uuid) order by g.n limit 1),
    'true') $$;
