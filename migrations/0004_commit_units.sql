-- The only write path for messages. A call consists of units; each unit is written whole or not at all. The server
-- sends one statement, which calls this function. Each statement inside the function reads the rows that are committed
-- then. The name has a number: a release that changes the function adds commit_units_2, and keeps this function for
-- processes of the previous release.
--
-- call: {units, messages: [{u, msg_id}], locks: [{key, shared}], plans: [{u, choices: [[condition]]}],
--        rows: [{op, kind, columns, entries: [{$u, $c, $id, column...}]}], children: [{u, c, n, op, table, key, row}],
--        outbox: [{u, c, id, to_kind, to_id, message}]}          u: unit, c: choice, n: order; empty lists are left out
-- a_, t_, r_: the actors, transitions and replies of the units, one array for each column. Every message has them, and
--        arrays cost several times less than JSON. Audit notes and replies are JSON texts.
-- answer: {conflicts: [u], known: [{u, replies}], chosen: [{u, c, replies}]}. A unit in none of them was written
--        as it was sent.

-- Returns the given columns that the table itself has, as a list for insert, set or select. Leaves out columns that
-- exist only in the view that loads the rows. Columns that an older process does not send get their defaults.
create function berth_columns(of_table regclass, given text[], alias text) returns text
language sql stable strict as $$
  select string_agg(alias || quote_ident(attname), ', ' order by attnum) from pg_attribute
  where attrelid = of_table and attname = any(given) and attnum > 0 and not attisdropped and attgenerated = '' $$;

-- Checks the conditions of one choice. If all hold, applies them. Returns {"fault": ...} or {"values": {token: value}}.
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
      when 'effect' then
        execute format('select %I($1)', 'effect_' || (each->>'name')) using each->'args';
      when 'release' then
        perform berth_release(each->>'pool', each->>'value');
      else null;
    end case;
  end loop;
  return jsonb_build_object('values', values);
end $$;

-- Returns a value to its pool and merges adjacent free ranges. Raises an error if the value is already free, which is a
-- bug in the caller.
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

create function commit_units_1(
  call jsonb,
  a_u int[], a_kind text[], a_id text[], a_incarnation uuid[], a_version bigint[],
  t_u int[], t_c int[], t_kind text[], t_id text[], t_incarnation uuid[], t_seq bigint[], t_event text[], t_from text[],
  t_to text[], t_msg uuid[], t_at timestamptz[], t_audit text[],
  r_u int[], r_c int[], r_msg uuid[], r_reply text[]
) returns json language plpgsql volatile
-- One generic plan serves every call, because calls differ only in the lengths of their lists.
set plan_cache_mode = force_generic_plan as $$
declare
  -- Per unit, from 1: the choice that is written, or -1 for none.
  choice    int[] := array_fill(0, array[(call->>'units')::int]);
  known     json := '[]';
  chosen    json[] := '{}';
  conflicts int[] := '{}';
  held      bigint[] := '{}';
  found     bigint[];
  lost      int[];
  lock_on   record;
  of_kind   record;
  plan      record;
  writes    record;
  verdict   jsonb;
  refusal   jsonb;
  option    int;
  sets      text;
  given     text[];
  columns   text;
begin
  -- 1. Messages that committed before answer with what they were told then.
  if call ? 'messages' then
    select coalesce(json_agg(json_build_object('u', k.u, 'replies', k.replies)), '[]'), array_agg(k.u)
      into known, lost
      from (select m.u, json_agg(json_build_object('msg_id', s.msg_id, 'reply', s.reply::json)) as replies
              from jsonb_to_recordset(call->'messages') m(u int, msg_id uuid)
              join seen s on s.msg_id = m.msg_id
             group by m.u) k;
    for i in 1 .. coalesce(array_length(lost, 1), 0) loop choice[lost[i] + 1] := -1; end loop;
  end if;

  -- 2. Named locks, sorted, so that two calls cannot wait for each other.
  if call ? 'locks' then
    for lock_on in select l.key, bool_and(l.shared) as shared
                     from jsonb_to_recordset(call->'locks') l(key text, shared boolean) group by l.key order by l.key loop
      if lock_on.shared then perform pg_advisory_xact_lock_shared(hashtextextended(lock_on.key, 0));
      else perform pg_advisory_xact_lock(hashtextextended(lock_on.key, 0));
      end if;
    end loop;
  end if;

  -- 3. Actor rows at the incarnation and version they were loaded at; a row that somebody holds is a lost race.
  for of_kind in select k.* from actor_kind k where k.kind = any(a_kind) order by k.kind loop
    execute format($q$
      with wanted as materialized (
        select a.n, a.id::%3$I as id, a.incarnation, a.version
          from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n) where a.kind = $1)
      select array_agg(h.n) from (
        select w.n from wanted w join %1$I t on t.%2$I = w.id
         where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h $q$,
      of_kind.table_name, of_kind.key_column, of_kind.key_type)
      into found using of_kind.kind, a_kind, a_id, a_incarnation, a_version;
    held := held || found;
    if 0 = any(a_version) then
      execute format($q$
        with wanted as materialized (
          select a.n, a.id::%3$I as id
            from unnest($2, $3, $4) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
        select array_agg(w.n) from wanted w where not exists (select from %1$I t where t.%2$I = w.id) $q$,
        of_kind.table_name, of_kind.key_column, of_kind.key_type) into found using of_kind.kind, a_kind, a_id, a_version;
      held := held || found;
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

  -- 4. Guards, budgets and allocations; the first choice whose conditions hold is the one that is written.
  if call ? 'plans' then
    for plan in select * from jsonb_to_recordset(call->'plans') p(u int, choices jsonb) order by p.u loop
      continue when choice[plan.u + 1] < 0;
      option := -1;
      for c in 0 .. jsonb_array_length(plan.choices) - 1 loop
        verdict := berth_conditions(plan.choices->c);
        if verdict ? 'values' then option := c; exit; end if;
        refusal := jsonb_build_object('fault', verdict->'fault');
      end loop;
      choice[plan.u + 1] := option;
      if option < 0 then
        -- The refusal is kept like a success, so that a retry hears the same.
        insert into seen select r.msg, refusal::text from unnest(r_u, r_c, r_msg) r(u, c, msg)
          where r.u = plan.u and r.c = 0;
      else
        for writes in select to_json(key)::text as token, to_json(value)::text as value
                        from jsonb_each_text(verdict->'values') loop
          call := replace(call::text, writes.token, writes.value)::jsonb;
          t_audit := array(select replace(t, writes.token, writes.value) from unnest(t_audit) with ordinality a(t, n) order by n);
          r_reply := array(select replace(t, writes.token, writes.value) from unnest(r_reply) with ordinality a(t, n) order by n);
        end loop;
      end if;
      chosen := chosen || (select json_build_object('u', plan.u, 'c', option, 'replies', json_agg(
          json_build_object('msg_id', r.msg, 'reply', case when option < 0 then refusal::json else r.reply::json end)))
        from unnest(r_u, r_c, r_msg, r_reply) r(u, c, msg, reply) where r.u = plan.u and r.c = greatest(option, 0));
    end loop;
  end if;

  -- 5. Writes, one statement per table and set of columns: new actors, changed actors, children in order, gone actors.
  for writes in select w.op, w.columns, w.entries, k.table_name, k.key_column, k.key_type
                  from jsonb_to_recordset(call->'rows') w(op text, kind text, columns text[], entries jsonb)
                  join actor_kind k on k.kind = w.kind
                 where w.op in ('insert', 'update') order by w.op, k.kind loop
    if writes.op = 'insert' then
      execute format($q$
        insert into %1$I (%2$s) select %3$s
          from jsonb_array_elements($1) e cross join jsonb_populate_record(null::%1$I, e) p
         where $2[(e->>'$u')::int + 1] = (e->>'$c')::int $q$, writes.table_name,
        berth_columns(writes.table_name::regclass, writes.columns, ''),
        berth_columns(writes.table_name::regclass, writes.columns, 'p.')) using writes.entries, choice;
    else
      if call ? 'plans' then
        -- What is not written may hold a token that no value has replaced, and no column would take that.
        writes.entries := coalesce((select jsonb_agg(e) from jsonb_array_elements(writes.entries) e
                                     where choice[(e->>'$u')::int + 1] = (e->>'$c')::int), '[]');
      end if;
      -- A state also has columns that its view joins; they are not in the table.
      select string_agg(format('%1$I = r.%1$I', attname), ', '),
             string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ')
        into sets, columns from pg_attribute
       where attrelid = writes.table_name::regclass and attname = any(writes.columns) and attnum > 0
         and not attisdropped and attgenerated = '';
      execute format($q$
        update %1$I t set %4$s from jsonb_to_recordset($1) r("$u" int, "$c" int, "$id" %3$I, %5$s)
         where $2[r."$u" + 1] = r."$c" and t.%2$I = r."$id" $q$,
        writes.table_name, writes.key_column, writes.key_type, sets, columns) using writes.entries, choice;
    end if;
  end loop;

  if call ? 'children' then
    for writes in select w.n, w.op, w."table" as table_name, w.key, w.row
                    from jsonb_to_recordset(call->'children')
                         w(u int, c int, n int, op text, "table" name, key text[], row jsonb)
                   where choice[w.u + 1] = w.c order by w.n loop
      given := array(select jsonb_object_keys(writes.row));
      case writes.op
        when 'insert' then
          execute format('insert into %1$I (%2$s) select %3$s from jsonb_populate_record(null::%1$I, $1) p',
            writes.table_name, berth_columns(writes.table_name::regclass, given, ''),
            berth_columns(writes.table_name::regclass, given, 'p.')) using writes.row;
        when 'upsert' then
          execute format('insert into %1$I (%3$s) select %5$s from jsonb_populate_record(null::%1$I, $1) p
                          on conflict (%2$s) do update set (%3$s) = row(%4$s)', writes.table_name,
            (select string_agg(quote_ident(k), ', ') from unnest(writes.key) k),
            berth_columns(writes.table_name::regclass, given, ''),
            berth_columns(writes.table_name::regclass, given, 'excluded.'),
            berth_columns(writes.table_name::regclass, given, 'p.')) using writes.row;
        when 'delete' then
          execute format('delete from %1$I t using jsonb_populate_record(null::%1$I, $1) p where %2$s', writes.table_name,
            (select string_agg(format('t.%1$I = p.%1$I', k), ' and ') from unnest(writes.key) k))
            using writes.row;
      end case;
    end loop;
  end if;

  for writes in select w.entries, k.table_name, k.key_column, k.key_type
                  from jsonb_to_recordset(call->'rows') w(op text, kind text, entries jsonb)
                  join actor_kind k on k.kind = w.kind where w.op = 'delete' order by k.kind loop
    execute format($q$
      delete from %1$I t using jsonb_to_recordset($1) r("$u" int, "$c" int, "$id" %3$I)
       where $2[r."$u" + 1] = r."$c" and t.%2$I = r."$id" $q$,
      writes.table_name, writes.key_column, writes.key_type) using writes.entries, choice;
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

  -- 6. What differs from "written as asked".
  return json_build_object('conflicts', conflicts, 'known', known, 'chosen', to_json(chosen));
end $$;
