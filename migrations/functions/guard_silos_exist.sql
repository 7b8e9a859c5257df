-- Returns the first of the ids {silos} that is not a silo, or 'true' if all are silos.
create or replace function guard_silos_exist(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select g.id from jsonb_array_elements_text(args->'silos') with ordinality g(id, n)
      where not exists (select from silo s where s.id = g.id::uuid) order by g.n limit 1),
    'true') $$;
