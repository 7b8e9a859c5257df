-- Gives one claim back to the budgets of the site and of the source that made it.
create or replace function effect_claim_ended(args jsonb) returns void language sql volatile as $$
  select berth_give_claims(args->>'source_bucket', 1, (args->>'site_max')::bigint, (args->>'source_max')::bigint) $$;
