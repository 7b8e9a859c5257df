-- Frees one place in the counter of unproven nodes. Deletes the counter if all its places are free again.
create or replace function effect_unproven_ended(args jsonb) returns void language plpgsql volatile as $$
begin
  update budget set remaining = remaining + 1 where name = 'unproven-nodes';
  delete from budget where name = 'unproven-nodes' and remaining >= (args->>'max')::bigint;
end $$;
