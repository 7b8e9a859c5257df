-- Locks the counter of unproven nodes: records from anonymous registrations that no operator ever approved. Creates the
-- counter if it is missing. Always true. guard_claims_are_counted explains the statement that creates the counter.
create or replace function guard_unproven_are_counted(args jsonb) returns boolean language plpgsql volatile as $$
begin
  loop
    perform from budget where name = 'unproven-nodes' for update;
    exit when found;
    insert into budget (name, remaining)
    select 'unproven-nodes', greatest(0, (args->>'max')::bigint - (select count(*) from cn where unproven))
     where not exists (select from budget where name = 'unproven-nodes') on conflict do nothing;
  end loop;
  return true;
end $$;
