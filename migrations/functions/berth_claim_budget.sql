-- Locks a counter of claims or of unproven nodes. A missing counter is created by counting the rows, because the
-- counter's last user deletes it.
create or replace function berth_claim_budget(of_name text, room bigint) returns void language plpgsql volatile as $$
begin
  -- Locked from here on: another call may be deleting the row.
  loop
    perform from budget where name = of_name for update;
    exit when found;
    insert into budget (name, remaining) values (of_name, greatest(0, room)) on conflict do nothing;
  end loop;
end $$;
