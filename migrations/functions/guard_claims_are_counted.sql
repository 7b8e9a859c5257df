-- Creates the claim counters of the site and of {source_bucket} if they are missing. Always true.
create or replace function guard_claims_are_counted(args jsonb) returns boolean language plpgsql volatile as $$
declare
  of_source constant text := 'claims-from:' || (args->>'source_bucket');
begin
  perform from budget where name = 'claims' for update;
  if not found then
    perform berth_claim_budget('claims', (args->>'site_max')::bigint - (select count(*) from enrolment_claim));
  end if;
  perform from budget where name = of_source for update;
  if not found then
    perform berth_claim_budget(of_source, (args->>'source_max')::bigint -
      (select count(*) from enrolment_claim where source_bucket = args->>'source_bucket'));
  end if;
  return true;
end $$;
