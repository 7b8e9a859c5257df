-- Document 2, Factory reset: the reset node must be able to netboot back into enrolment, so the image that the policy names
-- must be on a booter. What a deleted key once reported does not count.
create function guard_enrollment_pi_is_staged(args jsonb) returns boolean language sql volatile as $$
  select exists (select from boot_policy p
                   join staging s on s.stamps @> jsonb_build_array(p.enrollment_pi)
                   join api_key k on k.id = s.staged_by
                  where p.id = 'site') $$;
