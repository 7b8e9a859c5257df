-- For servers of the release before, which may still run during a deploy. They find no user data where none exists,
-- and they delete the user data of their instances. They cannot store plain user data. Where sealed user data exists
-- they fail instead of giving a node an instance without it; the node retries until a server of this release answers.
create or replace function user_data_is_sealed() returns text language plpgsql as $$
begin
  raise exception 'user data is sealed: ask a server of a later release';
end $$;
