-- The day after the last closed day is summarized in slices, up to span_id and instance_id. For this day, usage_day
-- contains the spans with an id up to span_id, and the traffic of the instances with an id up to instance_id. These
-- sums are not shown before the day is closed.
alter table usage_closed
  add column span_id bigint not null default 0,
  add column instance_id uuid not null default '00000000-0000-0000-0000-000000000000';
