-- Always raises an error. The view instance_user_data calls this function for sealed user data. Only servers of the
-- previous release use this view. They may still run during a deploy, and cannot open sealed user data. Without the
-- error, such a server would give the node an instance without user data. After the error, the node retries until a
-- server of this release answers.
create or replace function user_data_is_sealed() returns text language plpgsql as $$
begin
  raise exception 'user data is sealed: ask a server of a later release';
end $$;
