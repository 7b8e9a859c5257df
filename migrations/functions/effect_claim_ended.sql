-- Frees one place in the claim counters of the site and of {source_bucket}, the source of a claim that ended.
create or replace function effect_claim_ended(args jsonb) returns void language sql volatile as $$
  select berth_give_claims(args->>'source_bucket', 1, (args->>'site_max')::bigint, (args->>'source_max')::bigint) $$;
