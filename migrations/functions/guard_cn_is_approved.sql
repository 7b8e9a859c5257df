-- Returns whether the node {server_uuid} is approved: only approved nodes take work.
create or replace function guard_cn_is_approved(args jsonb) returns boolean language sql volatile as $$
  select exists (select from cn where server_uuid = (args->>'server_uuid')::uuid and state = 'approved') $$;
