-- Frees `given` places in the claim counters of the site and of one source, after this number of the source's claims
-- ended. Deletes a counter whose places are all free again. Locks the site's row first, as guard_claims_are_counted
-- does, so that two calls cannot deadlock.
create or replace function berth_give_claims(of_source text, given bigint, site_max bigint, source_max bigint) returns void
language plpgsql volatile as $$
begin
  update budget set remaining = remaining + given where name = 'claims';
  delete from budget where name = 'claims' and remaining >= site_max;
  update budget set remaining = remaining + given where name = 'claims-from:' || of_source;
  delete from budget where name = 'claims-from:' || of_source and remaining >= source_max;
end $$;
