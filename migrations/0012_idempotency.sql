-- Which message a client's Idempotency-Key stands for. The answer itself is kept with the message. Document 4, 3.5.
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
