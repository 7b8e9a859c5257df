-- The message that is bound to a client's Idempotency-Key (docs/wire.md, "Repeating a request"). The reply is in the
-- table seen.
create table idempotency (
  principal   text not null,
  method      text not null,
  path        text not null,
  key         text not null,
  body_sha256 text not null check (body_sha256 ~ '^[0-9a-f]{64}$'),
  msg_id      uuid not null,
  created_at  timestamptz not null,
  primary key (principal, method, path, key)
);
create index idempotency_age on idempotency (created_at);
