-- Creates the counter of unproven nodes if it is missing. Always true.
create or replace function guard_unproven_are_counted(args jsonb) returns boolean language plpgsql volatile as $$
begin
  perform from budget where name = 'unproven-nodes' for update;
  if not found then
    perform berth_claim_budget('unproven-nodes', (args->>'max')::bigint - (select count(*) from cn where unproven));
  end if;
  return true;
end $$;
