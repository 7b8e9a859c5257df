-- Sessions of users, and the identity providers of tenants (docs/tenancy.md, "Credentials").

-- A session is valid while its user_epoch equals the session_epoch of its user. A new password increases session_epoch,
-- which ends all earlier sessions in the same commit. A local user is identified by the user name. A user of an
-- identity provider is identified by issuer, subject and tenant. So if a provider moves to another tenant, its users do
-- not get into the old tenant.
alter table user_account
  add column session_epoch integer not null default 0,
  drop constraint user_account_username_key,
  drop constraint user_of_issuer;
create unique index user_local_name on user_account (username) where issuer is null;
create unique index user_of_issuer on user_account (issuer, subject, tenant_id) nulls not distinct
  where issuer is not null;
create view user_loaded as
  select u.*, t.silo_id from user_account u left join tenant t on t.id = u.tenant_id;

create table session (
  id           uuid primary key,
  incarnation  uuid not null,
  version      bigint not null check (version > 0),
  wake_at      timestamptz,
  state        text not null check (state = 'live'),
  user_id      uuid not null references user_account (id) on delete cascade,
  user_epoch   integer not null,
  -- The number of the last refresh token. Each token is valid for one refresh.
  generation   integer not null check (generation > 0),
  created_at   timestamptz not null,
  refreshed_at timestamptz not null,
  expires_at   timestamptz not null
);
create index session_of_user on session (user_id);
create index session_due on session (wake_at) where wake_at is not null;

-- The identity provider of a tenant. Every user whom it authenticates is a member of the tenant. client_secret is
-- encrypted with the server's secret.
create table tenant_idp (
  tenant_id     uuid primary key references tenant (id),
  incarnation   uuid not null,
  version       bigint not null check (version > 0),
  wake_at       timestamptz,
  state         text not null check (state = 'set'),
  issuer_url    text not null,
  client_id     text not null,
  client_secret text not null,
  audience      text not null,
  created_at    timestamptz not null,
  constraint tenant_idp_issuer unique (issuer_url)
);
insert into actor_kind values ('session', 'session', 'id'), ('idp', 'tenant_idp', 'tenant_id');

-- Returns the name of an API key that the user owns, or 'true'. The foreign key of api_key rejects a key that is
-- created at the same time.
create function guard_user_owns_no_key(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('API key %s (%s)', id, description) from api_key where user_id = (args->>'user_id')::uuid
      order by created_at, id limit 1),
    'true') $$;

-- Returns the name of an object that the tenant still has, or 'true'. The caller holds the tenant's lock exclusively.
create or replace function guard_tenant_is_empty(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('project %s (%s)', name, id) from project where tenant_id = (args->>'tenant_id')::uuid limit 1),
    (select format('identity provider %s', issuer_url) from tenant_idp where tenant_id = (args->>'tenant_id')::uuid),
    (select format('API key %s', id) from api_key where tenant_id = (args->>'tenant_id')::uuid limit 1),
    (select format('user %s (%s)', username, id) from user_account where tenant_id = (args->>'tenant_id')::uuid limit 1),
    'true') $$;
