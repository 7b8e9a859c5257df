-- Drops transitions that are older than `keep_s` seconds (at least 30 days), among the next `rows_max` rows of the log.
-- Keeps these transitions:
-- - the last transition of each record that exists
-- - each transition whose audit entry is not archived yet
-- - each transition after a kept transition of the same actor, so that an actor's kept transitions have no gap
-- So the last transition of a deleted record is dropped. Usually this transition leads to the state absent. Rows of the
-- kinds in `swept` are deleted without a transition, so for these kinds the function checks that the row is gone.
-- Returns whether there may be more to drop. The next call continues after the rows that this call read. When a call
-- finds only younger rows, the next call begins again at the oldest row. Runs with the rights of its owner, because the
-- server's own role may not shorten the log.
create or replace function log_drop(keep_s bigint, rows_max int, swept text[]) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  cutoff  timestamptz := berth_now() - make_interval(secs => greatest(keep_s, 30 * 86400));
  state   log_retention;
  old     bigint[];
  free    bigint[];
  ended   bigint[];
  of_kind actor_kind;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('berth:log_drop', 0)) then return false; end if;
  select * into state from log_retention;
  select array_agg(t.id order by t.id) into old
    from (select id, at from transition where id >= state.next_id order by id limit rows_max) t where t.at < cutoff;
  if old is null then
    update log_retention set next_id = 0 where next_id <> 0;
    return false;
  end if;
  select coalesce(array_agg(t.id), '{}') into free from transition t
   where t.id = any(old) and t.audit is null
     and not exists (select from transition p where p.actor_kind = t.actor_kind and p.actor_id = t.actor_id
                        and p.incarnation = t.incarnation and p.seq < t.seq and (p.audit is not null or p.id < old[1]));
  select coalesce(array_agg(t.id), '{}') into ended from transition t
   where t.id = any(free)
     and (t.to_state = 'absent' or t.actor_kind = 'request'
          or exists (select from transition n where n.actor_kind = t.actor_kind and n.actor_id = t.actor_id
                        and n.incarnation = t.incarnation and n.seq = t.seq + 1));
  for of_kind in select * from actor_kind where kind = any(swept) order by kind loop
    execute format('select $1 || coalesce(array_agg(t.id), ''{}'') from transition t
                     where t.id = any($2) and t.actor_kind = $3
                       and not exists (select from %I r where r.%I = t.actor_id::%s and r.incarnation = t.incarnation)',
                   of_kind.table_name, of_kind.key_column, of_kind.key_type)
      into ended using ended, free, of_kind.kind;
  end loop;
  delete from transition where id = any(ended);
  update log_retention set next_id = old[array_upper(old, 1)] + 1,
         dropped_before = case when ended <> '{}' then greatest(dropped_before, cutoff) else dropped_before end;
  return array_length(old, 1) = rows_max;
end $$;
