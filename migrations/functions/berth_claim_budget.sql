-- Berth does not call this function any more: guard_claims_are_counted and guard_unproven_are_counted create their
-- counters themselves. A later migration can drop this function.
create or replace function berth_claim_budget(of_name text, room bigint) returns void language plpgsql volatile as $$
begin
  -- Locks the row. If another call has just deleted the row, the loop creates it again.
  loop
    perform from budget where name = of_name for update;
    exit when found;
    insert into budget (name, remaining) values (of_name, greatest(0, room)) on conflict do nothing;
  end loop;
end $$;
