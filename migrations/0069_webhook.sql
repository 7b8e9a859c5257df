-- Webhooks: events of a project that are sent to a URL (docs/webhooks.md).
create table webhook (
  id            uuid primary key,
  incarnation   uuid not null,
  version       bigint not null check (version > 0),
  wake_at       timestamptz,
  state         text not null check (state = 'live'),
  tenant_id     uuid not null,
  project_id    uuid not null,
  name          text not null,
  description   text not null,
  labels        jsonb not null default '{}' check (jsonb_typeof(labels) = 'object'),
  url           text not null,
  events        text[] not null,
  enabled       boolean not null,
  sealed_secret text not null,
  created_at    timestamptz not null,
  constraint webhook_name unique (project_id, name),
  constraint webhook_project_fkey foreign key (project_id, tenant_id) references project (id, tenant_id)
);
create index webhook_in_project on webhook (project_id, id);
insert into actor_kind values ('webhook', 'webhook', 'id');

-- Only one process at a time sends to a webhook: the process with the claim. With a claim, due_at is the time at which
-- the claim ends. Without a claim, due_at is the time of the next attempt. Null: there is nothing to send, or the
-- webhook is disabled.
create table webhook_queue (
  webhook_id uuid primary key references webhook (id) on delete cascade,
  tenant_id  uuid not null,
  due_at     timestamptz,
  claim      uuid
) with (fillfactor = 50);
create index webhook_queue_due on webhook_queue (due_at) where due_at is not null;

-- An event that is sent to a webhook. Deliveries are sent in the order of their numbers.
create table webhook_delivery (
  id           uuid primary key default gen_random_uuid(),
  number       bigint generated always as identity,
  webhook_id   uuid not null references webhook (id) on delete cascade,
  type         text not null,
  event        jsonb not null,
  state        text not null default 'pending' check (state in ('pending', 'delivered', 'dead')),
  attempts     int not null default 0 check (attempts >= 0),
  last_status  int,
  last_reason  text,
  created_at   timestamptz not null default berth_now(),
  -- The start of the period of retries: created_at, or the time of the last redelivery.
  begun_at     timestamptz not null default berth_now(),
  attempted_at timestamptz,
  ended_at     timestamptz check ((ended_at is null) = (state = 'pending'))
);
create index webhook_delivery_of_webhook on webhook_delivery (webhook_id, number);
create index webhook_delivery_pending on webhook_delivery (webhook_id, number) where state = 'pending';
create index webhook_delivery_ended on webhook_delivery (ended_at) where ended_at is not null;

-- The last audit event that was assigned to webhooks.
create table webhook_cursor (one boolean primary key default true check (one), seq bigint not null);
insert into webhook_cursor (seq) select seq from audit_head;
