-- User data may hold passwords, so it is sealed with the server's secret. `plain` is what releases before this one
-- stored; the server seals it when it starts.
alter table instance_user_data rename to sealed_user_data;
alter table sealed_user_data rename column user_data to plain;
alter table sealed_user_data alter column plain drop not null, add column sealed text,
  add constraint sealed_user_data_once check (num_nonnulls(plain, sealed) = 1);
create index sealed_user_data_plain on sealed_user_data (instance_id) where plain is not null;

-- For servers of the release before, which may still run during a deploy. They find no user data where there is none and
-- remove what belongs to an instance. They cannot store any in the clear, and where there is some they fail aloud
-- instead of giving a node an instance without it: the node asks again until a server of this release answers.
create function user_data_is_sealed() returns text language plpgsql as $$
begin
  raise exception 'user data is sealed: ask a server of a later release';
end $$;
create view instance_user_data as
  select instance_id, case when sealed is null then plain else user_data_is_sealed() end as user_data
    from sealed_user_data;
