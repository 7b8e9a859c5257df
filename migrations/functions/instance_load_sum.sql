-- Does the whole work of instance_load_part at once, and deletes old summaries. load_materialize calls it.
create or replace function instance_load_sum() returns void language plpgsql volatile as $$
declare
  pass_at constant timestamptz := berth_now();
begin
  while instance_load_part('minute', null) loop null; end loop;
  while instance_load_part('hour', null) loop null; end loop;
  delete from instance_load where step = 'minute' and at <= pass_at - interval '6 hours';
  delete from instance_load where step = 'hour' and at <= pass_at - interval '7 days';
end $$;
