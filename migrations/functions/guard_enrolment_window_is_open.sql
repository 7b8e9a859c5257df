-- Returns whether the auto-approve window is open, which also admits announced machines. An announcement does not use
-- up its count.
create or replace function guard_enrolment_window_is_open(args jsonb) returns boolean language sql volatile as $$
  select exists (select from budget b where b.name = 'auto-approve' and berth_budget_allows(b, 1)) $$;
