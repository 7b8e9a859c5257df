-- How far the day after the last closed day is summed up: usage_day has the sums of the spans with at most this id, and
-- of the traffic of the instances with at most this id. They are not shown before the day is closed.
alter table usage_closed
  add column span_id bigint not null default 0,
  add column instance_id uuid not null default '00000000-0000-0000-0000-000000000000';
