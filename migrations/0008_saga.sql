-- Sagas, which the API calls operations, and the jobs that their steps wait for.
create table saga (
  id           uuid primary key,
  incarnation  uuid not null,
  version      bigint not null check (version > 0),
  wake_at      timestamptz,
  state        text not null check (state in ('running', 'unwinding', 'succeeded', 'unwound', 'stuck')),
  saga         text not null,
  params       jsonb not null,
  refs         jsonb not null,
  outputs      jsonb not null,
  steps        jsonb not null,
  early        jsonb not null,
  error        text,
  created_at   timestamptz not null,
  step         text,
  job_id       uuid,
  attempts     int,
  due_at       timestamptz,
  done_at      timestamptz,
  stuck_reason text,
  -- INV-10: a saga ends done, undone or stuck with a reason.
  check ((state = 'stuck') = (stuck_reason is not null)),
  check ((state in ('succeeded', 'unwound')) = (done_at is not null))
);
create index saga_newest on saga (created_at desc, id desc);
create index saga_of_resource on saga using gin (refs jsonb_path_ops);
create index saga_due on saga (wake_at) where wake_at is not null;
insert into actor_kind values ('saga', 'saga', 'id');

create sequence job_seq;
create table job (
  id           uuid primary key,
  incarnation  uuid not null,
  version      bigint not null check (version > 0),
  wake_at      timestamptz,
  state        text not null check (state in ('pending', 'in_progress', 'completed', 'failed', 'cancelled')),
  -- Nodes claim jobs in the order of seq. The sequence never repeats a number, so effects outside the database use seq
  -- as a fencing token.
  seq          bigint not null,
  kind         text not null,
  target_cn    uuid not null,
  payload      jsonb not null,
  saga_id      uuid not null,
  created_at   timestamptz not null,
  claimed_by   text,
  claimed_at   timestamptz,
  lease_until  timestamptz,
  result       jsonb,
  reason       text,
  tombstone    boolean,
  completed_at timestamptz
);
create function job_number() returns trigger language plpgsql as
  $$ begin new.seq := nextval('job_seq'); return new; end $$;
create trigger job_number before insert on job for each row execute function job_number();
create index job_queue on job (target_cn, seq) where state = 'pending';
create index job_due on job (wake_at) where wake_at is not null;
create unique index job_seq_once on job (seq);
insert into actor_kind values ('job', 'job', 'id');
