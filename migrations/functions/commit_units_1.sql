-- Checks and writes the changes of messages. The changes are in units; each unit is written as a whole or not at all. A
-- commit call is one statement, which runs this function once for each wave, a set of units that do not affect each
-- other's conditions. Each statement inside the function reads the latest committed rows. The name has a number: a
-- release that changes the parameters or their meaning adds commit_units_2, and keeps commit_units_1 for the processes
-- of the previous release.
--
-- call: {units, messages: [{u, msg_id}], locks: [{key, shared}],
--        written: [{u, kind, id, incarnation, version, msg_id}], plans: [{u, partial, choices: [[condition]]}],
--        rows: [{op, kind, columns, has_tokens, entries: [{$u, $c, $id, column...}]}],
--        children: [{op, table, key, columns, has_tokens, entries: [{$u, $c, column...}]}], in order; processes of an
--          earlier release send [{u, c, n, op, table, key, row}],
--        outbox: [{u, c, id, to_kind, to_id, message}]}          u: unit, c: choice, n: order; empty lists are left out
--        has_tokens: false if no entry has a token of an allocation; processes of an earlier release do not send it
-- a_, t_, r_: the actors, transitions and replies of the units, one array per column. They are not in `call`, because
--        PostgreSQL reads arrays several times faster than JSON. Audit notes and replies are JSON texts.
-- answer: {conflicts: [u], known: [{u, replies}], chosen: [{u, c, replies}]}; other units were written as requested
create or replace function commit_units_1(
  call jsonb,
  a_u int[], a_kind text[], a_id text[], a_incarnation uuid[], a_version bigint[],
  t_u int[], t_c int[], t_kind text[], t_id text[], t_incarnation uuid[], t_seq bigint[], t_event text[], t_from text[],
  t_to text[], t_msg uuid[], t_at timestamptz[], t_audit text[],
  r_u int[], r_c int[], r_msg uuid[], r_reply text[]
) returns json language plpgsql volatile
-- One plan serves every call, because calls differ only in the lengths of their lists.
set plan_cache_mode = force_generic_plan
-- Guards, foreign keys and effects must use an index. With a generic plan, PostgreSQL may scan a whole table for a
-- value that no row has, if the statistics promise an early hit (`limit 1`). So sequential scans are off. PostgreSQL
-- before 18 then overestimates the cost of some plans and would compile them. Compiling them takes longer than running
-- them, so jit is off.
set enable_seqscan = off
set jit = off as $$
declare
  -- The choice to write for each unit, or -1 for none. The first unit has the index 1.
  choice    int[] := array_fill(0, array[(call->>'units')::int]);
  known     json := '[]';
  chosen    json[] := '{}';
  conflicts int[] := '{}';
  held      bigint[] := '{}';
  lost      int[];
  lock_on   record;
  of_kind   record;
  plan      record;
  writes    record;
  verdict   jsonb;
  -- For each unit with conditions: its refusal, and its allocated values in the form that berth_replaced takes. The
  -- first unit has the index 1.
  refusals  jsonb[] := '{}';
  allocated jsonb[] := '{}';
  decided   int[] := '{}';
  option    int;
  -- True if entries with tokens must be rewritten, because some are not chosen or because values were allocated.
  is_filled boolean := false;
begin
  -- 1. A message that was committed before gets the same reply.
  if call ? 'messages' then
    select coalesce(json_agg(json_build_object('u', k.u, 'replies', k.replies)), '[]'), array_agg(k.u)
      into known, lost
      from (select m.u, json_agg(json_build_object('msg_id', s.msg_id, 'reply', s.reply::json)) as replies
              from jsonb_to_recordset(call->'messages') m(u int, msg_id uuid)
              join seen s on s.msg_id = m.msg_id
             group by m.u) k;
    for i in 1 .. coalesce(array_length(lost, 1), 0) loop choice[lost[i] + 1] := -1; end loop;
  end if;

  -- 2. Named locks, in sorted order, so that two calls cannot deadlock.
  if call ? 'locks' then
    for lock_on in select l.key, bool_and(l.shared) as shared
                     from jsonb_to_recordset(call->'locks') l(key text, shared boolean) group by l.key order by l.key loop
      if lock_on.shared then perform pg_advisory_xact_lock_shared(hashtextextended(lock_on.key, 0));
      else perform pg_advisory_xact_lock(hashtextextended(lock_on.key, 0));
      end if;
    end loop;
  end if;

  -- 3. Actor rows, which must still have the incarnation and version of the load. A row that another call has locked
  -- counts as a lost race.
  for of_kind in select k.kind, k.table_name, k.key_column, k.key_type,
                        bool_or(a.version > 0) as has_rows, bool_or(a.version = 0) as has_absent
                   from unnest(a_kind, a_version) a(kind, version) join actor_kind k using (kind)
                  group by k.kind order by k.kind loop
    if of_kind.has_rows then
      held := held || berth_held(of_kind.kind, a_kind, a_id, a_incarnation, a_version,
                                 of_kind.table_name, of_kind.key_column, of_kind.key_type);
    end if;
    if of_kind.has_absent then
      held := held || berth_absent(of_kind.kind, a_kind, a_id, a_incarnation, a_version,
                                   of_kind.table_name, of_kind.key_column, of_kind.key_type);
    end if;
  end loop;
  if cardinality(held) < cardinality(a_u) then
    for lock_on in select distinct a.u from unnest(a_u) with ordinality a(u, n) where a.n <> all(held) loop
      if choice[lock_on.u + 1] >= 0 then
        choice[lock_on.u + 1] := -1;
        conflicts := conflicts || lock_on.u;
      end if;
    end loop;
  end if;

  -- Checks that an earlier wave of this call wrote the versions in `written`. An equal version does not prove this,
  -- because another writer may have written the row.
  if call ? 'written' then
    for lock_on in select w.u
                     from jsonb_to_recordset(call->'written')
                          w(u int, kind text, id text, incarnation uuid, version bigint, msg_id uuid)
                    where not exists (
                      select from transition t
                       where t.actor_kind = w.kind and t.actor_id = w.id and t.incarnation = w.incarnation
                         and t.seq = w.version and t.msg_id = w.msg_id and t.xid = pg_current_xact_id()) loop
      if choice[lock_on.u + 1] >= 0 then
        choice[lock_on.u + 1] := -1;
        conflicts := conflicts || lock_on.u;
      end if;
    end loop;
  end if;

  -- 4. Guards, budgets and allocations. The first choice whose conditions hold is written.
  if call ? 'plans' then
    for plan in select * from jsonb_to_recordset(call->'plans') p(u int, choices jsonb, partial boolean) order by p.u loop
      continue when choice[plan.u + 1] < 0;
      option := -1;
      for c in 0 .. jsonb_array_length(plan.choices) - 1 loop
        verdict := berth_conditions(plan.choices->c);
        if verdict ? 'values' then option := c; exit; end if;
        refusals[plan.u + 1] := jsonb_build_object('fault', verdict->'fault');
      end loop;
      choice[plan.u + 1] := option;
      if option < 0 and plan.partial then
        refusals[plan.u + 1] := null;
        conflicts := conflicts || plan.u;
        continue;
      end if;
      decided := decided || plan.u;
      if option >= 0 then
        refusals[plan.u + 1] := null;
        allocated[plan.u + 1] := (select jsonb_agg(jsonb_build_array(to_json(key)::text, to_json(value)::text))
                                    from jsonb_each_text(verdict->'values'));
      end if;
    end loop;

    -- The refusal is stored like a success, so that a retry gets the same reply.
    insert into seen select r.msg, refusals[r.u + 1]::text from unnest(r_u, r_c, r_msg) r(u, c, msg)
      where r.c = 0 and refusals[r.u + 1] is not null;

    -- Keeps only the chosen texts, with the allocated values in place of their tokens. This step is skipped if every
    -- unit has only one choice, this choice is written, and no value was allocated.
    is_filled := exists (select from unnest(allocated) a where a is not null)
      or exists (select from unnest(choice) c where c <> 0)
      or exists (select from jsonb_array_elements(call->'plans') p where jsonb_array_length(p->'choices') > 1);
    if is_filled then
      t_audit := array(select case when choice[t.u + 1] = t.c then berth_replaced(t.audit, allocated[t.u + 1]) end
                         from unnest(t_u, t_c, t_audit) with ordinality t(u, c, audit, n) order by n);
      r_reply := array(select case when choice[r.u + 1] = r.c then berth_replaced(r.reply, allocated[r.u + 1]) end
                         from unnest(r_u, r_c, r_reply) with ordinality r(u, c, reply, n) order by n);
      if call ? 'outbox' then
        call := jsonb_set(call, '{outbox}', coalesce((
          select jsonb_agg(berth_replaced(e::text, allocated[(e->>'u')::int + 1])::jsonb)
            from jsonb_array_elements(call->'outbox') e where choice[(e->>'u')::int + 1] = (e->>'c')::int), '[]'));
      end if;
    end if;

    chosen := array(
      select json_build_object('u', d.u, 'c', choice[d.u + 1], 'replies', json_agg(json_build_object(
               'msg_id', r.msg, 'reply', coalesce(refusals[d.u + 1]::json, r.reply::json))))
        from unnest(decided) d(u)
        join unnest(r_u, r_c, r_msg, r_reply) r(u, c, msg, reply) on r.u = d.u and r.c = greatest(choice[d.u + 1], 0)
       group by d.u);
  end if;

  -- 5. Writes, with a statement for each table and set of columns: new actors, changed actors, children in order,
  -- deleted actors.
  for writes in select w.op, w.columns, k.table_name, k.key_column, k.key_type,
                       case when is_filled and w.has_tokens is not false
                         then berth_filled_entries(w.entries, choice, allocated) else w.entries end as entries
                  from jsonb_to_recordset(call->'rows')
                       w(op text, kind text, columns text[], has_tokens boolean, entries jsonb)
                  join actor_kind k on k.kind = w.kind
                 where w.op in ('insert', 'update') order by w.op, k.kind loop
    if writes.op = 'insert' then
      perform berth_insert(writes.entries, choice, writes.columns, writes.table_name, array[writes.key_column],
                           writes.key_type);
    else
      perform berth_update(writes.entries, choice, writes.columns, writes.table_name, array[writes.key_column],
                           writes.key_type);
    end if;
  end loop;

  if call ? 'children' then
    for writes in select w.op, w."table" as table_name, w.key,
                         coalesce(w.columns, array(select jsonb_object_keys(w.row))) as columns,
                         case when is_filled and w.has_tokens is not false
                           then berth_filled_entries(a.entries, choice, allocated) else a.entries end as entries
                    from jsonb_array_elements(call->'children') with ordinality each(of, place),
                         jsonb_to_record(each.of) w(op text, "table" name, key text[], columns text[], has_tokens boolean,
                                                    entries jsonb, u int, c int, "row" jsonb),
                         coalesce(w.entries, jsonb_build_array(w.row || jsonb_build_object('$u', w.u, '$c', w.c))) a(entries)
                   order by place loop
      case writes.op
        when 'insert' then perform berth_insert(writes.entries, choice, writes.columns, writes.table_name, writes.key, '');
        when 'upsert' then perform berth_upsert(writes.entries, choice, writes.columns, writes.table_name, writes.key, '');
        when 'delete' then perform berth_remove(writes.entries, choice, writes.columns, writes.table_name, writes.key, '');
      end case;
    end loop;
  end if;

  for writes in select w.entries, w.columns, k.table_name, k.key_column, k.key_type
                  from jsonb_to_recordset(call->'rows') w(op text, kind text, columns text[], entries jsonb)
                  join actor_kind k on k.kind = w.kind where w.op = 'delete' order by k.kind loop
    perform berth_delete(writes.entries, choice, writes.columns, writes.table_name, array[writes.key_column],
                         writes.key_type);
  end loop;

  insert into transition (actor_kind, actor_id, incarnation, seq, event, from_state, to_state, msg_id, at, audit)
    select t.kind, t.id, t.incarnation, t.seq, t.event, t.from_state, t.to_state, t.msg, t.at, t.audit::jsonb
      from unnest(t_u, t_c, t_kind, t_id, t_incarnation, t_seq, t_event, t_from, t_to, t_msg, t_at, t_audit)
           t(u, c, kind, id, incarnation, seq, event, from_state, to_state, msg, at, audit)
     where choice[t.u + 1] = t.c;

  insert into seen select r.msg, r.reply from unnest(r_u, r_c, r_msg, r_reply) r(u, c, msg, reply)
   where choice[r.u + 1] = r.c;

  if call ? 'outbox' then
    insert into outbox (id, to_kind, to_id, message)
      select o.id, o.to_kind, o.to_id, o.message
        from jsonb_to_recordset(call->'outbox') o(u int, c int, id uuid, to_kind text, to_id text, message jsonb)
       where choice[o.u + 1] = o.c;
  end if;

  -- 6. The answer. It omits the units without conditions that were written as requested.
  return json_build_object('conflicts', conflicts, 'known', known, 'chosen', to_json(chosen));
end $$;
