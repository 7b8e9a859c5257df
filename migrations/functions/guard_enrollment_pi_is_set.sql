-- Returns whether the boot policy names an enrolment image. docs/nodes.md, "Leaving": the reset node must be able to
-- netboot back into enrolment.
create or replace function guard_enrollment_pi_is_set(args jsonb) returns boolean language sql volatile as $$
  select exists (select from boot_policy where id = 'site' and enrollment_pi is not null) $$;
