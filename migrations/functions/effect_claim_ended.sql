-- Gives back the budget of one claim, to the site and to the source that sent the claim.
create or replace function effect_claim_ended(args jsonb) returns void language sql volatile as $$
  select berth_give_claims(args->>'source_bucket', 1, (args->>'site_max')::bigint, (args->>'source_max')::bigint) $$;
