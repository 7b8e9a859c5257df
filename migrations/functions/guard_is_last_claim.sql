-- Returns whether the node {server_uuid} has no claim other than {id}.
create or replace function guard_is_last_claim(args jsonb) returns boolean language sql volatile as $$
  select not exists (select from enrolment_claim
    where server_uuid = (args->>'server_uuid')::uuid and id <> (args->>'id')::uuid) $$;
