-- User data may contain passwords, so it is encrypted with the server's secret. `plain` is the user data that earlier
-- releases stored; the server encrypts it when it starts.
alter table instance_user_data rename to sealed_user_data;
alter table sealed_user_data rename column user_data to plain;
alter table sealed_user_data alter column plain drop not null, add column sealed text,
  add constraint sealed_user_data_once check (num_nonnulls(plain, sealed) = 1);
create index sealed_user_data_plain on sealed_user_data (instance_id) where plain is not null;

-- This view is for servers of the previous release, which may run during a deployment. They can read that an instance
-- has no user data, and delete the user data of an instance. They cannot store unencrypted user data. They get an error
-- when they read encrypted user data. So no node gets an instance without its user data: the node asks again until a
-- server of this release answers.
create function user_data_is_sealed() returns text language plpgsql as $$
begin
  raise exception 'user data is sealed: ask a server of a later release';
end $$;
create view instance_user_data as
  select instance_id, case when sealed is null then plain else user_data_is_sealed() end as user_data
    from sealed_user_data;
