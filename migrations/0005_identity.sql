-- The users and API keys that callers authenticate with (docs/tenancy.md, "Credentials").
create table user_account (
  id         uuid primary key,
  username   text not null unique,
  is_root    boolean not null default false,
  created_at timestamptz not null default berth_now()
);

-- A key has 12 characters that identify its row, and 32 random characters. Only the SHA-256 of the random ones is
-- stored.
create table api_key (
  id            uuid primary key,
  incarnation   uuid not null,
  version       bigint not null check (version > 0),
  wake_at       timestamptz,
  state         text not null check (state = 'live'),
  lookup        text not null,
  secret_sha256 text not null check (secret_sha256 ~ '^[0-9a-f]{64}$'),
  user_id       uuid not null references user_account (id),
  description   text not null,
  scope         text not null check (scope in ('full', 'read_only', 'audit_only', 'agent', 'booter', 'ur_enroll')),
  bound_to_cn   uuid,
  created_at    timestamptz not null,
  expires_at    timestamptz,
  constraint api_key_lookup unique (lookup),
  check (bound_to_cn is null or scope = 'agent')
);
-- A node has at most one live key (INV-9).
create unique index api_key_one_per_cn on api_key (bound_to_cn) where bound_to_cn is not null;
create index api_key_of_user on api_key (user_id, created_at);
insert into actor_kind values ('api-key', 'api_key', 'id');
