-- Returns whether an auto-approve window is open and its count is not used up. While `auto_enroll` of the boot policy
-- is off, a new machine may announce itself only during such a window. An announcement does not change the window's
-- count.
create or replace function guard_enrolment_window_is_open(args jsonb) returns boolean language sql volatile as $$
  select exists (select from budget b where b.name = 'auto-approve' and berth_budget_allows(b, 1)) $$;
