-- Does a whole pass of the load of nodes and instances at once: load_sample, load_long, instance_load_sum, and the
-- deletes of old rows. Only servers of earlier releases call this function. Newer servers call its parts one by one
-- (src/db/load.ts), because a large site needs more time than one statement may take. Returns the result of load_sample.
create or replace function load_materialize(interval_s double precision) returns boolean language plpgsql volatile as $$
declare
  pass_at constant timestamptz := berth_now();
begin
  if not load_sample(interval_s) then return false; end if;
  delete from cn_load_sample where at <= pass_at - interval '5 minutes';
  delete from cn_load_hour where hour <= pass_at - interval '7 days';
  perform instance_load_sum();
  delete from instance_metrics where at <= pass_at - interval '1 hour';
  perform load_long(null);
  return true;
end $$;
