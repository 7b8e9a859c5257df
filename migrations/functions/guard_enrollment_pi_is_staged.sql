-- Returns whether a booter has staged the enrolment image that the boot policy names. Without a staged image, a reset
-- node could not netboot and enrol again (docs/nodes.md, "Leaving"). A booter's report does not count after the
-- booter's key was deleted.
create or replace function guard_enrollment_pi_is_staged(args jsonb) returns boolean language sql volatile as $$
  select exists (select from boot_policy p
                   join staging s on s.stamps @> jsonb_build_array(p.enrollment_pi)
                   join api_key k on k.id = s.staged_by
                  where p.id = 'site') $$;
