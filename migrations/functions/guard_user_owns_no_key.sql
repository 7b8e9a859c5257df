-- Returns a text that names API keys of the user {user_id}, or 'true' if none exists. The foreign key of api_key
-- rejects a key that is created at the same time.
create or replace function guard_user_owns_no_key(args jsonb) returns text language sql volatile as $$
  select coalesce(berth_named(array(
    select format('API key %s (%s)', id, description) from api_key where user_id = (args->>'user_id')::uuid
      order by created_at, id limit 6)), 'true') $$;
