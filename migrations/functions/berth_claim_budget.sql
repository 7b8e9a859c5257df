-- Locks a counter of claims or of unproven nodes. Creates a missing counter with `room`, which the caller has computed
-- by counting rows. A counter is missing while it would be full: berth_give_claims and effect_unproven_ended delete a
-- full counter.
create or replace function berth_claim_budget(of_name text, room bigint) returns void language plpgsql volatile as $$
begin
  -- Locks the row. If another call has just deleted the row, the loop creates it again.
  loop
    perform from budget where name = of_name for update;
    exit when found;
    insert into budget (name, remaining) values (of_name, greatest(0, room)) on conflict do nothing;
  end loop;
end $$;
