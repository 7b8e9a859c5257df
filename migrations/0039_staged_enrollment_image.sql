-- After a factory reset, a node must be able to netboot into enrolment. So a booter must have staged the image that the
-- policy names. The report of a booter whose key was deleted does not count.
create function guard_enrollment_pi_is_staged(args jsonb) returns boolean language sql volatile as $$
  select exists (select from boot_policy p
                   join staging s on s.stamps @> jsonb_build_array(p.enrollment_pi)
                   join api_key k on k.id = s.staged_by
                  where p.id = 'site') $$;
