-- Sessions of users, and the issuers that tenants bring. Document 4, 2.1 to 2.3.

-- A session is as good as the password that opened it: a new password moves session_epoch on, and with that every session
-- from before is dead in the same commit. Local users are told apart by name; users of an issuer by tenant and subject,
-- so that an issuer that moves to another tenant brings nobody into the old one.
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
  -- Which refresh token is the last one; each is good for one refresh.
  generation   integer not null check (generation > 0),
  created_at   timestamptz not null,
  refreshed_at timestamptz not null,
  expires_at   timestamptz not null
);
create index session_of_user on session (user_id);
create index session_due on session (wake_at) where wake_at is not null;

-- Whoever such an issuer vouches for is a member of the tenant. The secret is sealed by the server.
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

-- The name of a key that a user owns, or 'true'. A key that is made meanwhile is held off by its foreign key.
create function guard_user_owns_no_key(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('API key %s (%s)', id, description) from api_key where user_id = (args->>'user_id')::uuid
      order by created_at, id limit 1),
    'true') $$;

-- The name of something that a tenant still holds, or 'true'. The caller has locked the tenant exclusively.
create or replace function guard_tenant_is_empty(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select format('project %s (%s)', name, id) from project where tenant_id = (args->>'tenant_id')::uuid limit 1),
    (select format('identity provider %s', issuer_url) from tenant_idp where tenant_id = (args->>'tenant_id')::uuid),
    (select format('API key %s', id) from api_key where tenant_id = (args->>'tenant_id')::uuid limit 1),
    (select format('user %s (%s)', username, id) from user_account where tenant_id = (args->>'tenant_id')::uuid limit 1),
    'true') $$;
