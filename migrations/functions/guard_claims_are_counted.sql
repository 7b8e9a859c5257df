-- Locks the claim counters of the site and of {source_bucket}. Creates them if they are missing. Always true.
--
-- The transaction that deletes the last counted row also deletes the counter (berth_give_claims,
-- effect_unproven_ended). So without the counter there are no rows to count, except before the first use. One
-- statement, in one snapshot, checks that the counter is missing, counts the rows and creates the counter. In two
-- snapshots, the new counter could include rows that have ended in between.
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
