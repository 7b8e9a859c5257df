-- Raises an error in servers of the previous release, which may still run during a deploy. Such a server can read that
-- an instance has no user data, and delete user data, but cannot store plain user data. The server gets the error for
-- an instance with sealed user data, because the node would otherwise get the instance without user data. The node
-- retries until a server of this release answers.
create or replace function user_data_is_sealed() returns text language plpgsql as $$
begin
  raise exception 'user data is sealed: ask a server of a later release';
end $$;
