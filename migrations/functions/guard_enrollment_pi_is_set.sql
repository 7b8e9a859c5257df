-- Returns whether the boot policy names an enrolment image. Without one, a reset node could not netboot and enrol again
-- (docs/nodes.md, "Leaving"). Only servers of earlier versions use this guard. The guard stays, because such a server
-- may run beside this version during an upgrade. A migration of a later release drops it (CONTRIBUTING.md, "How to
-- change the database").
create or replace function guard_enrollment_pi_is_set(args jsonb) returns boolean language sql volatile as $$
  select exists (select from boot_policy where id = 'site' and enrollment_pi is not null) $$;
