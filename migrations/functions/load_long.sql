-- Updates the values of the last day and of the last week in the nodes' load summaries. Takes only nodes that have
-- current samples and whose values are older than 10 minutes: the oldest values first, and at most `nodes` nodes (null:
-- all). Returns the number of updated nodes. Only one call at a time does this work. A row that is locked is left for
-- the next call.
create or replace function load_long(nodes int) returns int language plpgsql volatile as $$
declare
  pass_at constant timestamptz := berth_now();
  updated int;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('load-long', 0)) then return 0; end if;
  with due as materialized (
    select l.server_uuid from cn_load_summary l
     where (l.long_at is null or l.long_at <= pass_at - interval '10 minutes')
       and exists (select from cn_load_sample s
                    where s.server_uuid = l.server_uuid and s.at > pass_at - interval '5 minutes')
     order by l.long_at nulls first limit nodes for update skip locked)
  update cn_load_summary l
     set summary = l.summary || berth_load_since(l.server_uuid, pass_at - interval '1 day', '1d')
                   || berth_load_since(l.server_uuid, pass_at - interval '7 days', '7d'),
         long_at = pass_at
    from due where l.server_uuid = due.server_uuid;
  get diagnostics updated = row_count;
  return updated;
end $$;
