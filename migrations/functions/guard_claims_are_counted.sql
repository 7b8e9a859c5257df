-- Locks the claim counters of the site and of {source_bucket}. Creates them if they are missing. Always true.
--
-- berth_give_claims and effect_unproven_ended delete a counter that is full, in the transaction that ends its last row.
-- So a snapshot without the counter has no rows to count, except before the first use. The statement that creates a
-- counter therefore must count the rows and look for the counter in one snapshot. If it counted rows while the counter
-- existed, the rows could end before it creates the counter.
create or replace function guard_claims_are_counted(args jsonb) returns boolean language plpgsql volatile as $$
declare
  of_source constant text := 'claims-from:' || (args->>'source_bucket');
begin
  loop
    perform from budget where name = 'claims' for update;
    exit when found;
    insert into budget (name, remaining)
    select 'claims', greatest(0, (args->>'site_max')::bigint - (select count(*) from enrolment_claim))
     where not exists (select from budget where name = 'claims') on conflict do nothing;
  end loop;
  loop
    perform from budget where name = of_source for update;
    exit when found;
    insert into budget (name, remaining)
    select of_source, greatest(0, (args->>'source_max')::bigint -
             (select count(*) from enrolment_claim where source_bucket = args->>'source_bucket'))
     where not exists (select from budget where name = of_source) on conflict do nothing;
  end loop;
  return true;
end $$;
