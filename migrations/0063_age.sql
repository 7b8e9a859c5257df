-- Indexes and tables that keep the cost of a query from growing with the age of the system.

-- Finds open operations. Lists by state, drains and the doctor read them without reading the ended operations.
create index saga_open on saga (created_at desc, id desc) where state in ('running', 'unwinding', 'stuck');

-- For the list of the operations of one kind, newest first.
create index saga_of_kind on saga (saga, created_at desc, id desc);

-- For the list of jobs by state. Nearly all jobs are completed, so a page of completed jobs needs no index.
create index job_unusual on job (state, seq desc) where state <> 'completed';

-- Ended operations by age. Retention finds the oldest ones.
create index saga_ended on saga (done_at) where done_at is not null;

-- The progress of the deletion of old transitions. Transitions older than dropped_before are deleted, except the last
-- one of each record. A sweep continues at the id next_id. The next sweep starts at the oldest transition.
create table log_retention (
  only_row       boolean primary key default true check (only_row),
  dropped_before timestamptz,
  next_id        bigint not null default 0
);
insert into log_retention default values;

-- The audit archive: the oldest events of the chain, compressed, a thousand events in each segment. The server signs a
-- statement about each segment: its events, their first and last hash, and the digest of the content.
create table audit_segment (
  number      int primary key check (number >= 0),
  first_seq   bigint not null unique,
  last_seq    bigint not null unique check (last_seq >= first_seq),
  prev_hash   text not null check (prev_hash ~ '^[0-9a-f]{64}$'),
  last_hash   text not null check (last_hash ~ '^[0-9a-f]{64}$'),
  sha256      text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  public_key  text not null,
  signature   text not null,
  archived_at timestamptz not null default berth_now(),
  content     bytea not null
);

-- The server may read both tables. Only log_drop and audit_archive write them, with the rights of their owner.
do $$ begin
  if exists (select from pg_roles where rolname = 'berth_app') then
    revoke all on log_retention, audit_segment from berth_app;
    grant select on log_retention, audit_segment to berth_app;
  end if;
end $$;
