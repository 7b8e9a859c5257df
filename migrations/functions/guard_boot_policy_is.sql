-- Returns whether the boot policy still has the version {version} on which the decision is based.
create or replace function guard_boot_policy_is(args jsonb) returns boolean language sql volatile as $$
  select coalesce((select version from boot_policy where id = 'site'), 0) = (args->>'version')::bigint $$;
