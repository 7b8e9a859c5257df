-- The one write path for messages. A call is a set of units; each unit is written whole or not at all. The function is
-- one statement for the driver and separate statements inside, so that every check reads what is committed now.
-- It bears a number: a release that changes it adds commit_units_2 and keeps this one for the processes still running.
--
-- call: {units, messages: [{u, msg_id}], locks: [{key, shared}], actors: [{u, kind, id, incarnation, version}],
--        plans: [{u, choices: [[condition]]}], rows: [{u, c, n, kind, op, id, row}],
--        children: [{u, c, n, op, table, key, row}], transitions: [...], replies: [{u, c, msg_id, reply}],
--        outbox: [{u, c, id, to_kind, to_id, message}]}          u: unit, c: choice, n: order
-- answer: {conflicts: [u], known: [{u, replies}], chosen: [{u, c, replies}]}; a unit in none of them was written as is.

-- The columns of a table as the set and select lists of an update.
create function berth_columns(of_table regclass, alias text) returns text
language sql stable strict as $$
  select string_agg(alias || quote_ident(attname), ', ' order by attnum) from pg_attribute
  where attrelid = of_table and attnum > 0 and not attisdropped and attgenerated = '' $$;

-- Checks the conditions of one choice and, when all hold, applies them. Answers {"fault": ...} or {"values": {token: value}}.
create function berth_conditions(conditions jsonb) returns jsonb language plpgsql volatile as $$
declare
  each   jsonb;
  holds  boolean;
  values jsonb := '{}';
  spot   record;
  value  text;
begin
  for each in select * from jsonb_array_elements(conditions) loop
    case each->>'do'
      when 'guard' then
        execute format('select %I($1)', 'guard_' || (each->>'name')) into holds using each->'args';
      when 'take' then
        select (remaining is null or remaining >= (each->>'amount')::bigint)
               and (expires_at is null or expires_at > berth_now())
          into holds from budget where name = each->>'budget' for update;
      when 'allocate' then
        perform pg_advisory_xact_lock(hashtextextended('pool:' || (each->>'pool'), 0));
        select exists (select from pool_range where pool_id = each->>'pool') into holds;
      else
        holds := true;
    end case;
    if holds is not true then
      return jsonb_build_object('fault', each->'fault');
    end if;
  end loop;

  for each in select * from jsonb_array_elements(conditions) loop
    case each->>'do'
      when 'take' then
        update budget set remaining = remaining - (each->>'amount')::bigint where name = each->>'budget';
      when 'give' then
        update budget set remaining = remaining + (each->>'amount')::bigint where name = each->>'budget';
      when 'allocate' then
        select r.low, r.high, p.base into spot from pool_range r join pool p on p.id = r.pool_id
          where r.pool_id = each->>'pool' order by r.low limit 1;
        if not found then
          -- An earlier allocation of this same unit took the last value.
          raise exception using errcode = 'check_violation', constraint = 'pool_exhausted';
        end if;
        delete from pool_range where pool_id = each->>'pool' and low = spot.low;
        if spot.high > spot.low then
          insert into pool_range values (each->>'pool', spot.low + 1, spot.high);
        end if;
        value := case when spot.base is null then spot.low::text else host(spot.base + spot.low) end;
        values := values || jsonb_build_object(each->>'token', value);
      when 'release' then
        perform berth_release(each->>'pool', each->>'value');
      else null;
    end case;
  end loop;
  return jsonb_build_object('values', values);
end $$;

-- Returns a value to its pool and merges it with its neighbours. A value that is free already is a bug of the caller.
create function berth_release(of_pool text, value text) returns void language plpgsql volatile as $$
declare
  base   inet;
  spot   bigint;
  low_of bigint;
  high_of bigint;
begin
  perform pg_advisory_xact_lock(hashtextextended('pool:' || of_pool, 0));
  select p.base into strict base from pool p where p.id = of_pool;
  spot := case when base is null then value::bigint else value::inet - base end;
  if exists (select from pool_range where pool_id = of_pool and spot between low and high) then
    raise exception using errcode = 'check_violation', constraint = 'pool_value_free_already';
  end if;
  delete from pool_range where pool_id = of_pool and high = spot - 1 returning low into low_of;
  delete from pool_range where pool_id = of_pool and low = spot + 1 returning high into high_of;
  insert into pool_range values (of_pool, coalesce(low_of, spot), coalesce(high_of, spot));
end $$;

create function commit_units_1(call jsonb) returns jsonb language plpgsql volatile as $$
declare
  units     int := (call->>'units')::int;
  -- Per unit, from 1: the choice that is written, or -1 for none.
  choice    int[] := array_fill(0, array[units]);
  known     jsonb := '[]';
  chosen    jsonb := '[]';
  conflicts int[] := '{}';
  lost      int[];
  lock_on   record;
  of_kind   record;
  plan      record;
  writes    record;
  verdict   jsonb;
  refusal   jsonb;
  option    int;
begin
  -- 1. Messages that committed before answer with what they were told then.
  if jsonb_array_length(call->'messages') > 0 then
    select coalesce(jsonb_agg(jsonb_build_object('u', k.u, 'replies', k.replies)), '[]'), array_agg(k.u)
      into known, lost
      from (select m.u, jsonb_agg(jsonb_build_object('msg_id', s.msg_id, 'reply', s.reply)) as replies
              from jsonb_to_recordset(call->'messages') m(u int, msg_id uuid)
              join seen s on s.msg_id = m.msg_id
             group by m.u) k;
    for i in 1 .. coalesce(array_length(lost, 1), 0) loop choice[lost[i] + 1] := -1; end loop;
  end if;

  -- 2. Named locks, sorted, so that two calls cannot wait for each other.
  for lock_on in select distinct l.key, bool_and(l.shared) as shared
                   from jsonb_to_recordset(call->'locks') l(key text, shared boolean) group by l.key order by l.key loop
    if lock_on.shared then perform pg_advisory_xact_lock_shared(hashtextextended(lock_on.key, 0));
    else perform pg_advisory_xact_lock(hashtextextended(lock_on.key, 0));
    end if;
  end loop;

  -- 3. Actor rows at the incarnation and version they were loaded at; a row that somebody holds is a lost race.
  for of_kind in select k.* from actor_kind k
                  where k.kind in (select a.kind from jsonb_to_recordset(call->'actors') a(kind text))
                  order by k.kind loop
    execute format($q$
      with wanted as materialized (
        select a.u, a.id::%3$I as id, a.incarnation, a.version
          from jsonb_to_recordset($1) a(u int, kind text, id text, incarnation uuid, version bigint)
         where a.kind = $2),
      held as materialized (
        select w.u, w.id from wanted w join %1$I t on t.%2$I = w.id
         where w.version > 0 and t.version = w.version and t.incarnation = w.incarnation
           for update of t skip locked)
      select array_agg(distinct w.u) from wanted w
       where case when w.version > 0 then not exists (select from held h where h.u = w.u and h.id = w.id)
                  else exists (select from %1$I t where t.%2$I = w.id) end $q$,
      of_kind.table_name, of_kind.key_column, of_kind.key_type) into lost using call->'actors', of_kind.kind;
    for i in 1 .. coalesce(array_length(lost, 1), 0) loop
      if choice[lost[i] + 1] >= 0 then
        choice[lost[i] + 1] := -1;
        conflicts := conflicts || lost[i];
      end if;
    end loop;
  end loop;

  -- 4. Guards, budgets and allocations; the first choice whose conditions hold is the one that is written.
  for plan in select * from jsonb_to_recordset(call->'plans') p(u int, choices jsonb) order by p.u loop
    continue when choice[plan.u + 1] < 0;
    option := -1;
    for c in 0 .. jsonb_array_length(plan.choices) - 1 loop
      verdict := berth_conditions(plan.choices->c);
      if verdict ? 'values' then option := c; exit; end if;
      refusal := verdict->'fault';
    end loop;
    choice[plan.u + 1] := option;
    if option < 0 then
      -- The refusal is kept like a success, so that a retry hears the same.
      insert into seen select r.msg_id, jsonb_build_object('fault', refusal)
        from jsonb_to_recordset(call->'replies') r(u int, c int, msg_id uuid) where r.u = plan.u and r.c = 0;
      chosen := chosen || (select jsonb_build_object('u', plan.u, 'c', -1, 'replies', jsonb_agg(
          jsonb_build_object('msg_id', r.msg_id, 'reply', jsonb_build_object('fault', refusal))))
        from jsonb_to_recordset(call->'replies') r(u int, c int, msg_id uuid) where r.u = plan.u and r.c = 0);
    else
      for writes in select key, value from jsonb_each_text(verdict->'values') loop
        call := replace(call::text, to_jsonb(writes.key)::text, to_jsonb(writes.value)::text)::jsonb;
      end loop;
      chosen := chosen || (select jsonb_build_object('u', plan.u, 'c', option, 'replies', jsonb_agg(
          jsonb_build_object('msg_id', r.msg_id, 'reply', r.reply)))
        from jsonb_to_recordset(call->'replies') r(u int, c int, msg_id uuid, reply jsonb)
       where r.u = plan.u and r.c = option);
    end if;
  end loop;

  -- 5. Writes, one statement per table and kind of write: new actors, changed actors, children in order, gone actors.
  for writes in select distinct r.op, k.kind, k.table_name, k.key_column, k.key_type
                  from jsonb_to_recordset(call->'rows') r(kind text, op text) join actor_kind k on k.kind = r.kind
                 where r.op in ('insert', 'update') order by r.op, k.kind loop
    if writes.op = 'insert' then
      execute format($q$
        insert into %1$I select p.* from jsonb_to_recordset($1) r(u int, c int, kind text, op text, row jsonb)
          cross join lateral jsonb_populate_record(null::%1$I, r.row) p
         where r.kind = $2 and r.op = 'insert' and $3[r.u + 1] = r.c $q$, writes.table_name)
        using call->'rows', writes.kind, choice;
    else
      execute format($q$
        update %1$I t set (%3$s) = (select %4$s from jsonb_populate_record(t, r.row) p)
          from jsonb_to_recordset($1) r(u int, c int, kind text, op text, id text, row jsonb)
         where r.kind = $2 and r.op = 'update' and $3[r.u + 1] = r.c and t.%2$I = r.id::%5$I $q$,
        writes.table_name, writes.key_column, berth_columns(writes.table_name::regclass, ''),
        berth_columns(writes.table_name::regclass, 'p.'), writes.key_type)
        using call->'rows', writes.kind, choice;
    end if;
  end loop;

  for writes in select w.n, w.op, w."table" as table_name, w.key, w.row
                  from jsonb_to_recordset(call->'children')
                       w(u int, c int, n int, op text, "table" name, key text[], row jsonb)
                 where choice[w.u + 1] = w.c order by w.n loop
    case writes.op
      when 'insert' then
        execute format('insert into %1$I select p.* from jsonb_populate_record(null::%1$I, $1) p', writes.table_name)
          using writes.row;
      when 'upsert' then
        execute format('insert into %1$I select p.* from jsonb_populate_record(null::%1$I, $1) p
                        on conflict (%2$s) do update set (%3$s) = row(%4$s)', writes.table_name,
          (select string_agg(quote_ident(k), ', ') from unnest(writes.key) k),
          berth_columns(writes.table_name::regclass, ''), berth_columns(writes.table_name::regclass, 'excluded.'))
          using writes.row;
      when 'delete' then
        execute format('delete from %1$I t using jsonb_populate_record(null::%1$I, $1) p where %2$s', writes.table_name,
          (select string_agg(format('t.%1$I = p.%1$I', k), ' and ') from unnest(writes.key) k))
          using writes.row;
    end case;
  end loop;

  for writes in select distinct k.kind, k.table_name, k.key_column, k.key_type
                  from jsonb_to_recordset(call->'rows') r(kind text, op text) join actor_kind k on k.kind = r.kind
                 where r.op = 'delete' order by k.kind loop
    execute format($q$
      delete from %1$I t using jsonb_to_recordset($1) r(u int, c int, kind text, op text, id text)
       where r.kind = $2 and r.op = 'delete' and $3[r.u + 1] = r.c and t.%2$I = r.id::%3$I $q$,
      writes.table_name, writes.key_column, writes.key_type) using call->'rows', writes.kind, choice;
  end loop;

  insert into transition (actor_kind, actor_id, incarnation, seq, event, from_state, to_state, msg_id, at, audit)
    select t.actor_kind, t.actor_id, t.incarnation, t.seq, t.event, t.from_state, t.to_state, t.msg_id, t.at, t.audit
      from jsonb_to_recordset(call->'transitions')
           t(u int, c int, actor_kind text, actor_id text, incarnation uuid, seq bigint, event text,
             from_state text, to_state text, msg_id uuid, at timestamptz, audit jsonb)
     where choice[t.u + 1] = t.c;

  insert into seen select r.msg_id, r.reply
    from jsonb_to_recordset(call->'replies') r(u int, c int, msg_id uuid, reply jsonb) where choice[r.u + 1] = r.c;

  if jsonb_array_length(call->'outbox') > 0 then
    insert into outbox (id, to_kind, to_id, message)
      select o.id, o.to_kind, o.to_id, o.message
        from jsonb_to_recordset(call->'outbox') o(u int, c int, id uuid, to_kind text, to_id text, message jsonb)
       where choice[o.u + 1] = o.c;
  end if;

  -- 6. What differs from "written as asked".
  return jsonb_build_object('conflicts', to_jsonb(conflicts), 'known', known, 'chosen', chosen);
end $$;
