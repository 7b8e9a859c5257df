-- For servers of the release before, which may still run during a deploy. They can read that an instance has no user
-- data, and delete user data, but cannot store plain user data. For an instance with sealed user data they fail,
-- because the node would otherwise get the instance without user data. The node retries until a server of this release
-- answers.
create or replace function user_data_is_sealed() returns text language plpgsql as $$
begin
  raise exception 'user data is sealed: ask a server of a later release';
end $$;
