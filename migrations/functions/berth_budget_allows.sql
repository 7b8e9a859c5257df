-- Returns whether a budget holds at least `amount` and has not expired. A budget whose `remaining` is null is
-- unlimited.
create or replace function berth_budget_allows(of_budget budget, amount bigint) returns boolean language sql volatile as $$
  select (of_budget.remaining is null or of_budget.remaining >= amount)
     and (of_budget.expires_at is null or of_budget.expires_at > berth_now()) $$;
