-- The schema of this build. Printed by `deno task schema`: do not edit. Partitions of single days are left out, and all
-- objects belong to the user that migrates.
set check_function_bodies = off;

create extension btree_gist;

create sequence job_seq as bigint;
create sequence setup_epoch as bigint;

CREATE OR REPLACE FUNCTION public.audit_denial(of_msg uuid, of_request text, of_audit jsonb, sum jsonb)
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into transition (actor_kind, actor_id, incarnation, seq, event, from_state, to_state, msg_id, at, audit)
  values ('request', of_request, of_msg, 1, 'deny', 'none', 'denied', of_msg, berth_now(),
          case when sum is null then of_audit
               else jsonb_set(of_audit, '{payload}', coalesce(of_audit->'payload', '{}') || sum) end)
  on conflict on constraint transition_one_writer do nothing $function$;

CREATE OR REPLACE FUNCTION public.berth_claim_budget(of_name text, room bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  -- Locked from here on: another call may be deleting the row.
  loop
    perform from budget where name = of_name for update;
    exit when found;
    insert into budget (name, remaining) values (of_name, greatest(0, room)) on conflict do nothing;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.berth_columns(of_table regclass, given text[], alias text)
 RETURNS text
 LANGUAGE sql
 STABLE STRICT
AS $function$
  select string_agg(alias || quote_ident(attname), ', ' order by attnum) from pg_attribute
  where attrelid = of_table and attname = any(given) and attnum > 0 and not attisdropped and attgenerated = '' $function$;

CREATE OR REPLACE FUNCTION public.berth_conditions(conditions jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  each   jsonb;
  holds  boolean;
  verdict text;
  values jsonb := '{}';
  spot   record;
  taken  bigint;
  value  text;
begin
  for each in select * from jsonb_array_elements(conditions) loop
    case each->>'do'
      when 'guard' then
        execute format('select %I($1)::text', 'guard_' || (each->>'name')) into verdict using each->'args';
        holds := verdict = 'true';
        if holds is not true and verdict <> 'false' then
          return jsonb_build_object('fault',
            jsonb_set(each->'fault', '{message}', to_jsonb(replace(each->'fault'->>'message', '<WHAT>', verdict))));
        end if;
      when 'take' then
        select berth_budget_allows(b, (each->>'amount')::bigint)
          into holds from budget b where b.name = each->>'budget' for update;
      when 'allocate' then
        perform pg_advisory_xact_lock(hashtextextended('pool:' || (each->>'pool'), 0));
        select exists (select from berth_free_ranges(each->>'pool', (each->>'low')::bigint, (each->>'high')::bigint))
          into holds;
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
        select r.low, r.high, p.base into spot
          from berth_free_ranges(each->>'pool', (each->>'low')::bigint, (each->>'high')::bigint) r
          join pool p on p.id = r.pool_id order by r.low limit 1;
        if not found then
          -- An earlier allocation of this unit took the last value.
          raise exception using errcode = 'check_violation', constraint = 'pool_exhausted';
        end if;
        taken := greatest(spot.low, (each->>'low')::bigint);
        delete from pool_range where pool_id = each->>'pool' and low = spot.low;
        insert into pool_range select each->>'pool', s.low, s.high
          from (values (spot.low, taken - 1), (taken + 1, spot.high)) s(low, high) where s.low <= s.high;
        value := case when spot.base is null then taken::text else host(spot.base + taken) end;
        values := values || jsonb_build_object(each->>'token', value);
      when 'effect' then
        execute format('select %I($1)', 'effect_' || (each->>'name')) using each->'args';
      when 'release' then
        perform berth_release(each->>'pool', each->>'value');
      else null;
    end case;
  end loop;
  return jsonb_build_object('values', values);
end $function$;

CREATE OR REPLACE FUNCTION public.berth_filled(content text, given jsonb)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  each record;
begin
  if given is null then return content; end if;
  for each in select to_json(key)::text as token, to_json(value)::text as value from jsonb_each_text(given) loop
    content := replace(content, each.token, each.value);
  end loop;
  return content;
end $function$;

CREATE OR REPLACE FUNCTION public.berth_give_claims(of_source text, given bigint, site_max bigint, source_max bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  update budget set remaining = remaining + given where name = 'claims';
  delete from budget where name = 'claims' and remaining >= site_max;
  update budget set remaining = remaining + given where name = 'claims-from:' || of_source;
  delete from budget where name = 'claims-from:' || of_source and remaining >= source_max;
end $function$;

CREATE OR REPLACE FUNCTION public.berth_load_since(of_cn uuid, since timestamp with time zone, of text)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  with hours as (select cpu_max, cpu_counts from cn_load_hour where server_uuid = of_cn and hour > since),
  counted as (select i, sum(n) as n from hours, unnest(cpu_counts) with ordinality c(n, i) group by i),
  summed as (select i, n, sum(n) over (order by i) as upto, sum(n) over () as total from counted),
  percentile as (
    select q, round(((i - 1 + (q * total - (upto - n)) / n) / 20)::numeric, 4) as value
      from (values (0.5), (0.95)) asked(q), lateral (
        select * from summed where n > 0 and upto >= q * total order by i limit 1) at)
  select jsonb_build_object(
    'cpu_p50_' || of, (select value from percentile where q = 0.5),
    'cpu_p95_' || of, (select value from percentile where q = 0.95),
    'cpu_max_' || of, (select round(max(cpu_max)::numeric, 4) from hours),
    'samples_' || of, (select coalesce(max(total), 0) from summed)) $function$;

CREATE OR REPLACE FUNCTION public.berth_made_bytes(of_cn uuid)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(sum(least(coalesce(d.applied_bytes, 0), d.size_bytes)), 0)::bigint
    from instance i join disk d on d.instance_id = i.id where i.host_cn_uuid = of_cn $function$;

CREATE OR REPLACE FUNCTION public.berth_migration_ended(of_state text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select of_state in ('completed', 'failed', 'aborted') $function$;

CREATE OR REPLACE FUNCTION public.berth_now()
 RETURNS timestamp with time zone
 LANGUAGE sql
 PARALLEL SAFE
AS $function$ select date_trunc('milliseconds', clock_timestamp()) + ahead from lab_clock $function$;

CREATE OR REPLACE FUNCTION public.berth_release(of_pool text, value text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION public.berth_unmade_bytes(of_cn uuid)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(sum(d.size_bytes - coalesce(d.applied_bytes, 0)), 0)::bigint
    from instance i join disk d on d.instance_id = i.id
   where i.host_cn_uuid = of_cn and (d.applied_bytes is null or d.applied_bytes < d.size_bytes) $function$;

CREATE OR REPLACE FUNCTION public.close_denials(window_s integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  counted denial_window;
  closed  int := 0;
begin
  for counted in select * from denial_window where opened_at <= (select berth_now()) - make_interval(secs => window_s)
                  order by key for update skip locked loop
    closed := closed + 1;
    if counted.denials > 0 then
      perform audit_denial(gen_random_uuid(), counted.request_id, counted.audit,
        denials_since(counted.opened_at, counted.denials));
      update denial_window set opened_at = berth_now(), denials = 0 where key = counted.key;
    else
      delete from denial_window where key = counted.key;
    end if;
  end loop;
  return closed;
end $function$;

CREATE OR REPLACE FUNCTION public.commit_units_1(call jsonb, a_u integer[], a_kind text[], a_id text[], a_incarnation uuid[], a_version bigint[], t_u integer[], t_c integer[], t_kind text[], t_id text[], t_incarnation uuid[], t_seq bigint[], t_event text[], t_from text[], t_to text[], t_msg uuid[], t_at timestamp with time zone[], t_audit text[], r_u integer[], r_c integer[], r_msg uuid[], r_reply text[])
 RETURNS json
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
declare
  -- The choice to write for each unit, from 1; -1 for none.
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
  -- Of each unit with conditions, from 1: the refusal, and the allocated values.
  refusals  jsonb[] := '{}';
  allocated jsonb[] := '{}';
  decided   int[] := '{}';
  option    int;
  sets      text;
  given     text[];
  columns   text;
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

  -- 3. Actor rows, at the incarnation and version of the load. A row that another call has locked is a lost race.
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

  -- A version that an earlier wave of this call should have written must have been written by it: another writer may have
  -- reached the same version.
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
        allocated[plan.u + 1] := nullif(verdict->'values', '{}');
      end if;
    end loop;

    -- The refusal is stored like a success, so that a retry gets the same reply.
    insert into seen select r.msg, refusals[r.u + 1]::text from unnest(r_u, r_c, r_msg) r(u, c, msg)
      where r.c = 0 and refusals[r.u + 1] is not null;

    -- From here on the call has only the chosen writes, with the allocated values in place of their tokens.
    t_audit := array(select case when choice[t.u + 1] = t.c then berth_filled(t.audit, allocated[t.u + 1]) end
                       from unnest(t_u, t_c, t_audit) with ordinality t(u, c, audit, n) order by n);
    r_reply := array(select case when choice[r.u + 1] = r.c then berth_filled(r.reply, allocated[r.u + 1]) end
                       from unnest(r_u, r_c, r_reply) with ordinality r(u, c, reply, n) order by n);
    call := jsonb_build_object(
      'rows', coalesce((
        select jsonb_agg(jsonb_set(w, '{entries}', coalesce((
          select jsonb_agg(berth_filled(e::text, allocated[(e->>'$u')::int + 1])::jsonb)
            from jsonb_array_elements(w->'entries') e where choice[(e->>'$u')::int + 1] = (e->>'$c')::int), '[]')))
          from jsonb_array_elements(call->'rows') w), '[]'),
      'children', coalesce((
        select jsonb_agg(berth_filled(e::text, allocated[(e->>'u')::int + 1])::jsonb)
          from jsonb_array_elements(call->'children') e where choice[(e->>'u')::int + 1] = (e->>'c')::int), '[]'),
      'outbox', coalesce((
        select jsonb_agg(berth_filled(e::text, allocated[(e->>'u')::int + 1])::jsonb)
          from jsonb_array_elements(call->'outbox') e where choice[(e->>'u')::int + 1] = (e->>'c')::int), '[]'));

    chosen := array(
      select json_build_object('u', d.u, 'c', choice[d.u + 1], 'replies', json_agg(json_build_object(
               'msg_id', r.msg, 'reply', coalesce(refusals[d.u + 1]::json, r.reply::json))))
        from unnest(decided) d(u)
        join unnest(r_u, r_c, r_msg, r_reply) r(u, c, msg, reply) on r.u = d.u and r.c = greatest(choice[d.u + 1], 0)
       group by d.u);
  end if;

  -- 5. Writes, one statement per table and set of columns: new actors, changed actors, children in order, deleted actors.
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
      -- A state also has columns that its view joins; the table does not have them.
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
          execute format('insert into %1$I (%2$s) select %2$s from jsonb_populate_record(null::%1$I, $1)',
            writes.table_name, berth_columns(writes.table_name::regclass, given, '')) using writes.row;
        when 'upsert' then
          execute format('insert into %1$I (%3$s) select %3$s from jsonb_populate_record(null::%1$I, $1)
                          on conflict (%2$s) do update set (%3$s) = row(%4$s)', writes.table_name,
            (select string_agg(quote_ident(k), ', ') from unnest(writes.key) k),
            berth_columns(writes.table_name::regclass, given, ''),
            berth_columns(writes.table_name::regclass, given, 'excluded.')) using writes.row;
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

  -- 6. The units that were not written as requested.
  return json_build_object('conflicts', conflicts, 'known', known, 'chosen', to_json(chosen));
end $function$;

CREATE OR REPLACE FUNCTION public.count_denial(of_key text, window_s integer, of_msg uuid, of_request text, of_audit jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  counted denial_window;
begin
  loop
    insert into denial_window (key, opened_at, request_id, audit) values (of_key, berth_now(), of_request, of_audit)
      on conflict (key) do nothing;
    if found then
      perform audit_denial(of_msg, of_request, of_audit, null);
      return;
    end if;
    select * into counted from denial_window where key = of_key for update;
    -- Not found: the row was deleted in between.
    exit when found;
  end loop;
  if counted.opened_at > berth_now() - make_interval(secs => window_s) then
    update denial_window set denials = denials + 1, request_id = of_request, audit = of_audit where key = of_key;
    return;
  end if;
  perform audit_denial(of_msg, of_request, of_audit,
    case when counted.denials > 0 then denials_since(counted.opened_at, counted.denials + 1) end);
  update denial_window set opened_at = berth_now(), denials = 0, request_id = of_request, audit = of_audit
   where key = of_key;
end $function$;

CREATE OR REPLACE FUNCTION public.denials_since(opened_at timestamp with time zone, denials bigint)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select jsonb_build_object('denials', denials, 'since', opened_at, 'until', berth_now()) $function$;

CREATE OR REPLACE FUNCTION public.effect_claim_ended(args jsonb)
 RETURNS void
 LANGUAGE sql
AS $function$
  select berth_give_claims(args->>'source_bucket', 1, (args->>'site_max')::bigint, (args->>'source_max')::bigint) $function$;

CREATE OR REPLACE FUNCTION public.effect_cn_use(args jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  for attempt in 1..2 loop
    update cn_usage set cpu_units = cpu_units + coalesce((args->>'cpu_units')::bigint, 0),
           ram_mb = ram_mb + coalesce((args->>'ram_mb')::bigint, 0),
           disk_bytes = disk_bytes + coalesce((args->>'disk_bytes')::bigint, 0),
           instances = instances + coalesce((args->>'instances')::bigint, 0)
     where server_uuid = (args->>'server_uuid')::uuid;
    exit when found;
    insert into cn_usage (server_uuid) values ((args->>'server_uuid')::uuid) on conflict do nothing;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.effect_end_claims(args jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  gone record;
begin
  for gone in with ended as (delete from enrolment_claim where server_uuid = (args->>'server_uuid')::uuid
                                and id is distinct from (args->>'except')::uuid returning source_bucket)
              select source_bucket, count(*) as claims from ended group by source_bucket order by source_bucket loop
    perform berth_give_claims(gone.source_bucket, gone.claims, (args->>'site_max')::bigint,
                              (args->>'source_max')::bigint);
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.effect_quota_use(args jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  of_tenant uuid := (select p.tenant_id from project p where p.id = (args->>'project_id')::uuid);
begin
  update project_usage set cpu = cpu + coalesce((args->>'cpu')::bigint, 0),
         memory_bytes = memory_bytes + coalesce((args->>'memory_bytes')::bigint, 0),
         disk_bytes = disk_bytes + coalesce((args->>'disk_bytes')::bigint, 0),
         instances = instances + coalesce((args->>'instances')::bigint, 0)
   where project_id = (args->>'project_id')::uuid;
  update tenant_usage set cpu = cpu + coalesce((args->>'cpu')::bigint, 0),
         memory_bytes = memory_bytes + coalesce((args->>'memory_bytes')::bigint, 0),
         disk_bytes = disk_bytes + coalesce((args->>'disk_bytes')::bigint, 0),
         instances = instances + coalesce((args->>'instances')::bigint, 0)
   where tenant_id = of_tenant;
  -- A server of the release before creates tenants without this row.
  if not found then
    insert into tenant_usage
      select of_tenant, sum(u.cpu), sum(u.memory_bytes), sum(u.disk_bytes), sum(u.instances)
        from project p join project_usage u on u.project_id = p.id where p.tenant_id = of_tenant
      having count(*) > 0;
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.effect_rebuild_admin_pool(args jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  block inet := (args->>'network')::inet;
begin
  perform pg_advisory_xact_lock(hashtextextended('pool:admin-network', 0));
  delete from pool_range where pool_id = 'admin-network';
  update pool set base = block where id = 'admin-network';
  if block is null then
    return;
  end if;
  -- The gaps between taken addresses, ends included: a block may be too large to visit every address.
  insert into pool_range (pool_id, low, high)
    select 'admin-network', before + 1, n - 1
      from (select n, lag(n, 1, (args->>'low')::bigint - 1) over (order by n) as before
              from (select value::bigint from jsonb_array_elements_text(args->'except')
                     union select r.address - block from boot_record r where r.address is not null
                     union select (args->>'high')::bigint + 1) taken(n)
             where n between (args->>'low')::bigint and (args->>'high')::bigint + 1) gaps
     where n - before > 1;
end $function$;

CREATE OR REPLACE FUNCTION public.effect_unproven_ended(args jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  update budget set remaining = remaining + 1 where name = 'unproven-nodes';
  delete from budget where name = 'unproven-nodes' and remaining >= (args->>'max')::bigint;
end $function$;

CREATE OR REPLACE FUNCTION public.effect_vpc_routes_gone(args jsonb)
 RETURNS void
 LANGUAGE sql
AS $function$
  delete from route where vpc_id = (args->>'vpc_id')::uuid $function$;

CREATE OR REPLACE FUNCTION public.guard_boot_policy_is(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select coalesce((select version from boot_policy where id = 'site'), 0) = (args->>'version')::bigint $function$;

CREATE OR REPLACE FUNCTION public.guard_claims_are_counted(args jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  of_source constant text := 'claims-from:' || (args->>'source_bucket');
begin
  perform from budget where name = 'claims' for update;
  if not found then
    perform berth_claim_budget('claims', (args->>'site_max')::bigint - (select count(*) from enrolment_claim));
  end if;
  perform from budget where name = of_source for update;
  if not found then
    perform berth_claim_budget(of_source, (args->>'source_max')::bigint -
      (select count(*) from enrolment_claim where source_bucket = args->>'source_bucket'));
  end if;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION public.guard_cn_has_room(args jsonb)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  of_cn  constant uuid := (args->>'server_uuid')::uuid;
  wanted record;
  node   record;
  pool   jsonb;
  room   double precision;
begin
  select coalesce((args->>'cpu_units')::bigint, 0) as cpu_units, coalesce((args->>'ram_mb')::bigint, 0) as ram_mb,
         coalesce((args->>'disk_bytes')::bigint, 0) as disk_bytes into wanted;
  for attempt in 1..2 loop
    select u.cpu_units, u.ram_mb, u.disk_bytes, c.state, c.role, s.last_seen, p.reserved, p.cordoned,
           p.pinned_tenant_uuid, p.pinned_silo_uuid, p.overprovision_cpu, p.overprovision_ram, p.overprovision_disk,
           k.report into node
      from cn_usage u join cn c using (server_uuid) left join cn_signal s using (server_uuid)
           left join cn_placement p using (server_uuid) left join cn_capacity k using (server_uuid)
     where u.server_uuid = of_cn for update of u;
    exit when found;
    insert into cn_usage (server_uuid) select server_uuid from cn where server_uuid = of_cn on conflict do nothing;
  end loop;
  if node.state is null then return 'it is gone'; end if;

  if wanted.cpu_units > 0 then
    if node.state <> 'approved' then return format('it is %s', node.state); end if;
    -- 60 s: docs/limits.md.
    if node.last_seen is null or node.last_seen < berth_now() - interval '60 seconds' then
      return 'it was not seen lately';
    end if;
    if args ? 'role' and node.role not in (args->>'role', 'both') then
      return format('its role is %s', node.role);
    end if;
    if node.reserved then return 'an operator reserved it'; end if;
    if node.cordoned then return 'it is cordoned'; end if;
    if args ? 'tenant_id' and (node.pinned_tenant_uuid <> (args->>'tenant_id')::uuid
                               or node.pinned_silo_uuid <> (args->>'silo_id')::uuid) then
      return 'it is pinned to somebody else';
    end if;
  end if;

  if node.report is null then return 'it has not reported its capacity'; end if;
  -- A node without its own factors has 4.0, 1.0 and 1.0: docs/limits.md.
  room := (node.report->>'cpu_threads_logical')::double precision * 100 * coalesce(node.overprovision_cpu, 4)
          - node.cpu_units;
  if wanted.cpu_units > 0 and room < wanted.cpu_units then
    return format('%s CPU units left, %s wanted', greatest(0, floor(room)), wanted.cpu_units);
  end if;
  room := (node.report->>'ram_total_mb')::double precision * coalesce(node.overprovision_ram, 1) - node.ram_mb;
  if wanted.ram_mb > 0 and room < wanted.ram_mb then
    return format('%s MiB of memory left, %s wanted', greatest(0, floor(room)), wanted.ram_mb);
  end if;
  if wanted.disk_bytes > 0 then
    select p into pool from jsonb_array_elements(node.report->'zpools') p where p->>'name' = 'zones' limit 1;
    if pool is null then return 'it has no pool zones'; end if;
    room := least(
      (pool->>'total_bytes')::double precision * coalesce(node.overprovision_disk, 1) - node.disk_bytes,
      (pool->>'free_bytes')::double precision * coalesce(node.overprovision_disk, 1)
        - greatest(berth_unmade_bytes(of_cn), node.disk_bytes - berth_made_bytes(of_cn)));
    if room < wanted.disk_bytes then
      return format('%s bytes of disk left, %s wanted', greatest(0, floor(room)), wanted.disk_bytes);
    end if;
  end if;
  return 'true';
end $function$;

CREATE OR REPLACE FUNCTION public.guard_cn_is_approved(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select exists (select from cn where server_uuid = (args->>'server_uuid')::uuid and state = 'approved') $function$;

CREATE OR REPLACE FUNCTION public.guard_cn_is_live(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select exists (select from cn_signal where server_uuid = (args->>'server_uuid')::uuid
                    and last_seen >= berth_now() - make_interval(secs => (args->>'live_s')::int)) $function$;

CREATE OR REPLACE FUNCTION public.guard_cn_offers_nic_tag(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select exists (select from cn_capacity where server_uuid = (args->>'server_uuid')::uuid
                    and report->'nic_tags' ? (args->>'nic_tag')) $function$;

CREATE OR REPLACE FUNCTION public.guard_disk_is_at_rest(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce((select s.id::text from disk d join saga s on s.id = d.resize_operation_id
                    where d.id = (args->>'disk_id')::uuid and s.state in ('running', 'unwinding')), 'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_enrollment_pi_is_set(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select exists (select from boot_policy where id = 'site' and enrollment_pi is not null) $function$;

CREATE OR REPLACE FUNCTION public.guard_enrollment_pi_is_staged(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select exists (select from boot_policy p
                   join staging s on s.stamps @> jsonb_build_array(p.enrollment_pi)
                   join api_key k on k.id = s.staged_by
                  where p.id = 'site') $function$;

CREATE OR REPLACE FUNCTION public.guard_enrolment_window_is_open(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select exists (select from budget b where b.name = 'auto-approve' and berth_budget_allows(b, 1)) $function$;

CREATE OR REPLACE FUNCTION public.guard_external_network_is_offered(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select exists (select from external_subnet s
                  where s.id = (args->>'network_id')::uuid
                    and (s.owner_silos = '{}' or (args->>'silo_id')::uuid = any(s.owner_silos)))
     and (args->>'network_pool_id' is null or exists (
           select from network_pool p
            where p.id = (args->>'network_pool_id')::uuid and (args->>'network_id')::uuid = any(p.networks)
              and (p.owner_silos = '{}' or (args->>'silo_id')::uuid = any(p.owner_silos)))) $function$;

CREATE OR REPLACE FUNCTION public.guard_external_subnet_is_apart(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select format('external subnet %s (%s)', name, id) from external_subnet
      where ipv4_block && (args->>'ipv4_block')::cidr or ipv6_block && (args->>'ipv6_block')::cidr
      order by id limit 1),
    (select format('the public pool %s', network) from pool
      where id like 'public:%' and ((network && (args->>'ipv4_block')::cidr and network <> (args->>'ipv4_block')::cidr)
                                 or (network && (args->>'ipv6_block')::cidr and network <> (args->>'ipv6_block')::cidr))
      order by id limit 1),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_external_subnet_is_unused(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select format('floating ip %s', id) from floating_ip where network_id = (args->>'id')::uuid limit 1),
    (select format('network pool %s (%s)', p.name, p.id) from network_pool_network n
       join network_pool p on p.id = n.network_pool_id where n.network_id = (args->>'id')::uuid limit 1),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_external_subnets_exist(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select g.id from jsonb_array_elements_text(args->'networks') with ordinality g(id, n)
      where not exists (select from external_subnet s where s.id = g.id::uuid) order by g.n limit 1),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_floating_ip_is_off_nodes(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select target_cn::text from job
      where payload ? 'floating_ip_id' and payload->>'floating_ip_id' = args->>'floating_ip_id'
        and (state in ('pending', 'in_progress') or tombstone)
        and exists (select from cn where server_uuid = target_cn) order by seq limit 1),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_floating_ips_rest(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select operation_id::text from floating_ip
      where attached_instance_id = (args->>'instance_id')::uuid and operation_id is not null limit 1),
    (select operation_id::text from floating_ip where prior_instance_id = (args->>'instance_id')::uuid limit 1),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_image_is_unused(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select case count(*) when 0 then 'true' when 1 then '1 instance' else format('%s instances', count(*)) end
    from instance where image_id = (args->>'image_id')::uuid $function$;

CREATE OR REPLACE FUNCTION public.guard_image_upload_fits(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select (args->>'size_bytes')::numeric <= (args->>'max')::numeric
    - (select coalesce(sum(size_bytes), 0) from image_upload where tenant_id = (args->>'tenant_id')::uuid)
    - (select coalesce(sum(size_bytes), 0) from image
        where tenant_id = (args->>'tenant_id')::uuid and source_url like 'berth:%') $function$;

CREATE OR REPLACE FUNCTION public.guard_instance_stays(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce((select id::text from migration where instance_id = (args->>'instance_id')::uuid
                      and not berth_migration_ended(state) limit 1), 'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_is_last_claim(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select not exists (select from enrolment_claim
    where server_uuid = (args->>'server_uuid')::uuid and id <> (args->>'id')::uuid) $function$;

CREATE OR REPLACE FUNCTION public.guard_nat_gateway_is_unused(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select not exists (select from route where nat_gateway_id = (args->>'id')::uuid) $function$;

CREATE OR REPLACE FUNCTION public.guard_nic_tag_exists(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select exists (select from nic_tag where name = args->>'name') $function$;

CREATE OR REPLACE FUNCTION public.guard_nic_tag_is_unused(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select format('external subnet %s (%s)', name, id) from external_subnet
      where nic_tag = args->>'name' order by id limit 1),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_no_active_cn(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select not exists (select from cn where server_uuid = (args->>'server_uuid')::uuid
    and state in ('approved', 'setting_up')) $function$;

CREATE OR REPLACE FUNCTION public.guard_no_instance_on_cn(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select not exists (select from instance where host_cn_uuid = (args->>'server_uuid')::uuid) $function$;

CREATE OR REPLACE FUNCTION public.guard_no_migration_of_cn(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select not exists (select from migration
    where (args->>'server_uuid')::uuid in (source_cn, target_cn) and not berth_migration_ended(state)) $function$;

CREATE OR REPLACE FUNCTION public.guard_no_reservation_on_cn(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select not exists (select from placement_reservation
    where server_uuid = (args->>'server_uuid')::uuid and expires_at > berth_now()) $function$;

CREATE OR REPLACE FUNCTION public.guard_node_has_room_for_claim(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select count(*) < (args->>'max')::bigint from enrolment_claim
   where server_uuid = (args->>'server_uuid')::uuid and expires_at > berth_now() $function$;

CREATE OR REPLACE FUNCTION public.guard_pin_holds(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select format('there is no silo %s', silo) from (select (args->>'pinned_silo_uuid')::uuid as silo) a
      where silo is not null and not exists (select from silo s where s.id = silo)),
    (select format('there is no tenant %s', tenant) from (select (args->>'pinned_tenant_uuid')::uuid as tenant) a
      where tenant is not null and not exists (select from tenant t where t.id = tenant)),
    (select format('tenant %s is not in silo %s', t.id, args->>'pinned_silo_uuid') from tenant t
      where t.id = (args->>'pinned_tenant_uuid')::uuid and t.silo_id <> (args->>'pinned_silo_uuid')::uuid),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_project_is_empty(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select format('instance %s (%s)', name, id) from instance where project_id = (args->>'project_id')::uuid limit 1),
    (select format('vpc %s (%s)', name, id) from vpc where project_id = (args->>'project_id')::uuid limit 1),
    (select format('floating ip %s (%s)', name, id) from floating_ip
      where project_id = (args->>'project_id')::uuid limit 1),
    (select format('image %s (%s)', name, id) from image where project_id = (args->>'project_id')::uuid limit 1),
    (select format('ssh key %s (%s)', name, id) from ssh_key where project_id = (args->>'project_id')::uuid limit 1),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_quota_has_room(args jsonb)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  of_project constant uuid := (args->>'project_id')::uuid;
begin
  perform from project_usage u left join quota q on q.project_id = u.project_id
    where u.project_id = of_project
      and within_limit(u.cpu, args->>'cpu', q.project_id, q.cpu_limit, args->'defaults'->>'cpu_limit')
      and within_limit(u.memory_bytes, args->>'memory_bytes', q.project_id, q.memory_bytes,
                       args->'defaults'->>'memory_bytes')
      and within_limit(u.disk_bytes, args->>'disk_bytes', q.project_id, q.disk_bytes, args->'defaults'->>'disk_bytes')
      and within_limit(u.instances, args->>'instances', q.project_id, q.instance_limit,
                       args->'defaults'->>'instance_limit');
  if found then return 'true'; end if;
  return coalesce(
    (select quota_broken(to_jsonb(l), to_jsonb(u), args)
       from project_usage u cross join lateral limits_of_project(u.project_id, args->'defaults') l
      where u.project_id = of_project),
    'true');
end $function$;

CREATE OR REPLACE FUNCTION public.guard_route_table_is_unused(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select format('route %s (%s)', name, id) from route
      where route_table_id = (args->>'route_table_id')::uuid limit 1),
    (select format('subnet %s (%s)', name, id) from subnet
      where route_table_id = (args->>'route_table_id')::uuid limit 1),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_silos_exist(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select g.id from jsonb_array_elements_text(args->'silos') with ordinality g(id, n)
      where not exists (select from silo s where s.id = g.id::uuid) order by g.n limit 1),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_status_is_last(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select exists (select from cn_signal
                  where server_uuid = (args->>'server_uuid')::uuid and status_id = (args->>'status_id')::uuid) $function$;

CREATE OR REPLACE FUNCTION public.guard_subnet_block_is_free(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select format('%s of subnet %s (%s)', ipv4_block, name, id) from subnet
      where vpc_id = (args->>'vpc_id')::uuid and ipv4_block && (args->>'block')::inet limit 1),
    (select format('%s of subnet %s (%s)', ipv6_block, name, id) from subnet
      where vpc_id = (args->>'vpc_id')::uuid and ipv6_block && (args->>'block')::inet limit 1),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_subnet_is_empty(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select format('nic %s of instance %s', id, instance_id) from nic
      where subnet_id = (args->>'subnet_id')::uuid limit 1),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_tenant_is_empty(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select format('project %s (%s)', name, id) from project where tenant_id = (args->>'tenant_id')::uuid limit 1),
    (select format('image %s (%s)', name, id) from image where tenant_id = (args->>'tenant_id')::uuid limit 1),
    (select format('ssh key %s (%s)', name, id) from ssh_key where tenant_id = (args->>'tenant_id')::uuid limit 1),
    (select format('identity provider %s', issuer_url) from tenant_idp where tenant_id = (args->>'tenant_id')::uuid),
    (select format('API key %s', id) from api_key where tenant_id = (args->>'tenant_id')::uuid limit 1),
    (select format('user %s (%s)', username, id) from user_account where tenant_id = (args->>'tenant_id')::uuid limit 1),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_tenant_is_no_default(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select not exists (select from silo where default_tenant_id = (args->>'tenant_id')::uuid) $function$;

CREATE OR REPLACE FUNCTION public.guard_tenant_quota_has_room(args jsonb)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  of_tenant constant uuid := (args->>'tenant_id')::uuid;
begin
  perform from tenant_usage u left join tenant_quota q on q.tenant_id = u.tenant_id
    where u.tenant_id = of_tenant
      and within_limit(u.cpu, args->>'cpu', q.tenant_id, q.cpu_limit, args->'defaults'->>'cpu_limit')
      and within_limit(u.memory_bytes, args->>'memory_bytes', q.tenant_id, q.memory_bytes,
                       args->'defaults'->>'memory_bytes')
      and within_limit(u.disk_bytes, args->>'disk_bytes', q.tenant_id, q.disk_bytes, args->'defaults'->>'disk_bytes')
      and within_limit(u.instances, args->>'instances', q.tenant_id, q.instance_limit,
                       args->'defaults'->>'instance_limit');
  if found then return 'true'; end if;
  return (select quota_broken(to_jsonb(l), to_jsonb(u), args)
            from (values (of_tenant)) w(id) left join tenant_usage u on u.tenant_id = w.id
           cross join lateral limits_of_tenant(w.id, args->'defaults') l);
end $function$;

CREATE OR REPLACE FUNCTION public.guard_unproven_are_counted(args jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  perform from budget where name = 'unproven-nodes' for update;
  if not found then
    perform berth_claim_budget('unproven-nodes', (args->>'max')::bigint - (select count(*) from cn where unproven));
  end if;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION public.guard_user_owns_no_key(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select format('API key %s (%s)', id, description) from api_key where user_id = (args->>'user_id')::uuid
      order by created_at, id limit 1),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_vni_is_free(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select not exists (select from vpc where vni = (args->>'vni')::int) $function$;

CREATE OR REPLACE FUNCTION public.guard_vpc_is_empty(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select format('subnet %s (%s)', name, id) from subnet where vpc_id = (args->>'vpc_id')::uuid limit 1),
    (select format('route table %s (%s)', name, id) from route_table
      where vpc_id = (args->>'vpc_id')::uuid and not is_main limit 1),
    (select format('firewall rule %s (%s)', name, id) from firewall_rule
      where vpc_id = (args->>'vpc_id')::uuid limit 1),
    (select format('nat gateway %s (%s)', name, id) from nat_gateway where vpc_id = (args->>'vpc_id')::uuid limit 1),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.job_number()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$ begin new.seq := nextval('job_seq'); return new; end $function$;

CREATE OR REPLACE FUNCTION public.limits_of_project(project uuid, defaults jsonb, OUT cpu bigint, OUT memory_bytes bigint, OUT disk_bytes bigint, OUT instances bigint, OUT own boolean)
 RETURNS record
 LANGUAGE sql
 STABLE
AS $function$
  select case when q.project_id is null then (defaults->>'cpu_limit')::bigint else q.cpu_limit end,
         case when q.project_id is null then (defaults->>'memory_bytes')::bigint else q.memory_bytes end,
         case when q.project_id is null then (defaults->>'disk_bytes')::bigint else q.disk_bytes end,
         case when q.project_id is null then (defaults->>'instance_limit')::bigint else q.instance_limit end,
         q.project_id is not null
    from (values (project)) w(id) left join quota q on q.project_id = w.id $function$;

CREATE OR REPLACE FUNCTION public.limits_of_tenant(tenant uuid, defaults jsonb, OUT cpu bigint, OUT memory_bytes bigint, OUT disk_bytes bigint, OUT instances bigint, OUT own boolean)
 RETURNS record
 LANGUAGE sql
 STABLE
AS $function$
  select case when q.tenant_id is null then (defaults->>'cpu_limit')::bigint else q.cpu_limit end,
         case when q.tenant_id is null then (defaults->>'memory_bytes')::bigint else q.memory_bytes end,
         case when q.tenant_id is null then (defaults->>'disk_bytes')::bigint else q.disk_bytes end,
         case when q.tenant_id is null then (defaults->>'instance_limit')::bigint else q.instance_limit end,
         q.tenant_id is not null
    from (values (tenant)) w(id) left join tenant_quota q on q.tenant_id = w.id $function$;

CREATE OR REPLACE FUNCTION public.load_materialize(interval_s double precision)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  pass_at constant timestamptz := berth_now();
begin
  if not pg_try_advisory_xact_lock(hashtextextended('load-materializer', 0)) then return false; end if;
  insert into load_pass as p values (true, pass_at)
    on conflict (one) do update set at = excluded.at where p.at <= excluded.at - make_interval(secs => interval_s / 2);
  if not found then return false; end if;

  with taken as (
    insert into cn_load_sample
      select k.server_uuid, k.reported_at, r.cpu, r.ram_used
        from cn_capacity k, lateral (
          select nullif((k.report->>'cpu_utilization_pct')::double precision, 0) as cpu,
                 case when (k.report->>'ram_available_mb')::double precision > 0
                           and (k.report->>'ram_total_mb')::double precision > 0
                      then greatest(0, 1 - (k.report->>'ram_available_mb')::double precision
                                           / (k.report->>'ram_total_mb')::double precision) end as ram_used) r
       where k.reported_at > pass_at - interval '5 minutes' and num_nonnulls(r.cpu, r.ram_used) > 0
       order by k.server_uuid
    on conflict do nothing returning *)
  insert into cn_load_hour as h
    select t.server_uuid, date_trunc('hour', t.at, 'UTC'), t.cpu,
           (select array_agg((i = least(20, floor(t.cpu * 20) + 1))::int order by i) from generate_series(1, 20) i)
      from taken t where t.cpu is not null
  on conflict (server_uuid, hour) do update
    set cpu_max = greatest(h.cpu_max, excluded.cpu_max),
        cpu_counts = (select array_agg(a + b order by i)
                        from unnest(h.cpu_counts, excluded.cpu_counts) with ordinality u(a, b, i));
  delete from cn_load_sample where at <= pass_at - interval '5 minutes';
  delete from cn_load_hour where hour <= pass_at - interval '7 days';

  insert into cn_load_summary as l (server_uuid, summary, last_refreshed_at, long_at)
    select s.server_uuid, s.short || coalesce(long.part, '{}'), pass_at,
           case when long.part is null then old.long_at else pass_at end
      from (select server_uuid, jsonb_build_object(
                     'cpu_p50_5m', round(percentile_cont(0.5) within group (order by cpu)::numeric, 4),
                     'cpu_p95_5m', round(percentile_cont(0.95) within group (order by cpu)::numeric, 4),
                     'cpu_max_5m', round(max(cpu)::numeric, 4),
                     'ram_used_p95_5m', round(percentile_cont(0.95) within group (order by ram_used)::numeric, 4),
                     'samples_5m', count(*)) as short
              from cn_load_sample group by server_uuid) s
      left join cn_load_summary old using (server_uuid)
      -- Summaries of a day and a week change slowly.
      left join lateral (
        select berth_load_since(s.server_uuid, pass_at - interval '1 day', '1d')
               || berth_load_since(s.server_uuid, pass_at - interval '7 days', '7d') as part
         where old.long_at is null or old.long_at <= pass_at - interval '10 minutes') long on true
     order by s.server_uuid
  on conflict (server_uuid) do update
    set summary = l.summary || excluded.summary, last_refreshed_at = excluded.last_refreshed_at,
        long_at = excluded.long_at;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION public.nic_mac()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  while new.mac is null or exists (select from nic where mac = new.mac) loop
    new.mac := ('02' || left(replace(gen_random_uuid()::text, '-', ''), 10))::macaddr;
  end loop;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.nodes_to_place(at timestamp with time zone DEFAULT NULL::timestamp with time zone)
 RETURNS TABLE(now timestamp with time zone, server_uuid uuid, hostname text, state text, role text, last_seen timestamp with time zone, placement jsonb, traits jsonb, capacity jsonb, cpu_units bigint, ram_mb bigint, disk_bytes bigint, instances bigint, unmade_bytes bigint, neighbours jsonb, summary jsonb, refreshed_at timestamp with time zone)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET jit TO 'off'
AS $function$
#variable_conflict use_column
begin
  return query
    with clock as (select coalesce(at, berth_now()) as now),
    beside as (
      select host_cn_uuid, jsonb_agg(jsonb_build_object('tenant_id', tenant_id, 'silo_id', silo_id, 'count', n)) as them
        from (select i.host_cn_uuid, i.tenant_id, t.silo_id, i.n
                from (select host_cn_uuid, tenant_id, count(*) as n from instance
                       where host_cn_uuid is not null group by 1, 2) i
                join tenant t on t.id = i.tenant_id) each
       group by 1),
    unmade as (
      select i.host_cn_uuid, sum(d.size_bytes - coalesce(d.applied_bytes, 0))::bigint as bytes
        from disk d join instance i on i.id = d.instance_id
       where d.applied_bytes is null or d.applied_bytes < d.size_bytes group by 1)
    select clock.now, c.server_uuid, c.hostname, c.state, c.role, c.last_seen, c.placement, c.traits,
           k.report, coalesce(u.cpu_units, 0), coalesce(u.ram_mb, 0), coalesce(u.disk_bytes, 0),
           coalesce(u.instances, 0), coalesce(m.bytes, 0), coalesce(b.them, '[]'), l.summary, l.last_refreshed_at
      from clock left join (
        select c.server_uuid, c.hostname, c.state, c.role, c.last_seen, c.placement, c.traits
          from cn_loaded c where c.state = 'approved') c on true
      left join cn_capacity k on k.server_uuid = c.server_uuid
      left join cn_usage u on u.server_uuid = c.server_uuid
      left join cn_load_summary l on l.server_uuid = c.server_uuid
      left join beside b on b.host_cn_uuid = c.server_uuid
      left join unmade m on m.host_cn_uuid = c.server_uuid;
end $function$;

CREATE OR REPLACE FUNCTION public.quota_broken(limits jsonb, used jsonb, asked jsonb)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(
    (select format('%s: limit %s%s, used %s, asked for %s', name, limits->>name,
                   case when (limits->>'own')::boolean then '' else ' (the default of the site)' end,
                   coalesce((used->>name)::bigint, 0), asked->>name)
       from unnest(array['cpu', 'memory_bytes', 'disk_bytes', 'instances']) with ordinality each(name, place)
      where (asked->>name)::bigint > 0
        and coalesce((used->>name)::bigint, 0) + (asked->>name)::bigint > (limits->>name)::bigint
      order by place limit 1),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.seen_bound(day date)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE STRICT
AS $function$
  select (lpad(to_hex((extract(epoch from day::timestamp) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid $function$;

CREATE OR REPLACE FUNCTION public.seen_maintain(keep_days integer DEFAULT 1)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  day  date;
  part record;
begin
  perform pg_advisory_xact_lock(hashtextextended('berth:seen_maintain', 0));
  for day in select generate_series(current_date - 1, current_date + 2, interval '1 day')::date loop
    if to_regclass(format('seen_%s', to_char(day, 'YYYYMMDD'))) is null then
      begin
        execute format('create table %I partition of seen for values from (%L) to (%L)',
          'seen_' || to_char(day, 'YYYYMMDD'), seen_bound(day), seen_bound(day + 1));
      exception when check_violation then
        -- The default partition holds ids of that day already, because a process's clock ran ahead. They stay there.
        null;
      end;
    end if;
  end loop;
  for part in select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
              where i.inhparent = 'seen'::regclass and c.relname ~ '^seen_[0-9]{8}$'
                and to_date(right(c.relname, 8), 'YYYYMMDD') < current_date - keep_days loop
    execute format('drop table %I', part.relname);
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.user_data_is_sealed()
 RETURNS text
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'user data is sealed: ask a server of a later release';
end $function$;

CREATE OR REPLACE FUNCTION public.within_limit(used bigint, asked text, quota uuid, own bigint, standard text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select coalesce(asked::bigint <= 0 or used + asked::bigint <= case when quota is null then standard::bigint else own end,
                  true) $function$;

create table actor_kind (
  kind text not null,
  table_name name not null,
  key_column name not null,
  key_type name default 'uuid'::name not null,
  constraint actor_kind_pkey PRIMARY KEY (kind),
  constraint actor_kind_table_name_key UNIQUE (table_name)
);

create table api_key (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  lookup text not null,
  secret_sha256 text not null,
  user_id uuid not null,
  description text not null,
  scope text not null,
  bound_to_cn uuid,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  tenant_id uuid,
  constraint api_key_check CHECK (((bound_to_cn IS NULL) OR (scope = 'agent'::text))),
  constraint api_key_check1 CHECK (((tenant_id IS NULL) OR (scope = ANY (ARRAY['full'::text, 'read_only'::text])))),
  constraint api_key_lookup UNIQUE (lookup),
  constraint api_key_one_per_cn UNIQUE (bound_to_cn) DEFERRABLE INITIALLY DEFERRED,
  constraint api_key_pkey PRIMARY KEY (id),
  constraint api_key_scope_check CHECK ((scope = ANY (ARRAY['full'::text, 'read_only'::text, 'audit_only'::text, 'agent'::text, 'booter'::text, 'ur_enroll'::text]))),
  constraint api_key_secret_sha256_check CHECK ((secret_sha256 ~ '^[0-9a-f]{64}$'::text)),
  constraint api_key_state_check CHECK ((state = 'live'::text)),
  constraint api_key_version_check CHECK ((version > 0))
);

create table api_key_use (
  key_id uuid not null,
  last_used_at timestamp with time zone not null,
  constraint api_key_use_pkey PRIMARY KEY (key_id)
) with (fillfactor=50);

create table audit_event (
  seq bigint not null,
  transition_id bigint not null,
  canonical text not null,
  prev_hash text not null,
  hash text not null,
  constraint audit_event_hash_check CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
  constraint audit_event_once UNIQUE (transition_id),
  constraint audit_event_pkey PRIMARY KEY (seq),
  constraint audit_event_prev_hash_check CHECK ((prev_hash ~ '^[0-9a-f]{64}$'::text)),
  constraint audit_event_seq_check CHECK ((seq >= 0))
);

create table audit_head (
  only_row boolean default true not null,
  seq bigint not null,
  hash text not null,
  last_xid xid8 not null,
  last_id bigint not null,
  constraint audit_head_hash_check CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
  constraint audit_head_only_row_check CHECK (only_row),
  constraint audit_head_pkey PRIMARY KEY (only_row),
  constraint audit_head_seq_check CHECK ((seq >= '-1'::integer))
);

create table boot_policy (
  id text not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  auto_enroll boolean not null,
  allowlist jsonb not null,
  enrollment_pi text,
  enrollment_kernel_args jsonb not null,
  admin_network jsonb,
  updated_at timestamp with time zone not null,
  constraint boot_policy_id_check CHECK ((id = 'site'::text)),
  constraint boot_policy_pkey PRIMARY KEY (id),
  constraint boot_policy_state_check CHECK ((state = 'set'::text)),
  constraint boot_policy_version_check CHECK ((version > 0))
);

create table boot_record (
  mac text not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  address inet,
  networking jsonb,
  provenance jsonb not null,
  server_uuid uuid,
  assigned_pi text,
  rescue boolean not null,
  hostname text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint boot_record_address UNIQUE (address),
  constraint boot_record_check CHECK (((state <> 'enrolled'::text) OR ((server_uuid IS NOT NULL) AND (assigned_pi IS NOT NULL)))),
  constraint boot_record_check1 CHECK (((address IS NULL) = (networking IS NULL))),
  constraint boot_record_mac_check CHECK ((mac ~ '^[0-9a-f]{2}(:[0-9a-f]{2}){5}$'::text)),
  constraint boot_record_pkey PRIMARY KEY (mac),
  constraint boot_record_state_check CHECK ((state = ANY (ARRAY['discovered'::text, 'enrolling'::text, 'enrolled'::text, 'decommissioned'::text]))),
  constraint boot_record_version_check CHECK ((version > 0))
);

create table boot_roster (
  id text not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  entries jsonb not null,
  updated_at timestamp with time zone not null,
  constraint boot_roster_id_check CHECK ((id = 'site'::text)),
  constraint boot_roster_pkey PRIMARY KEY (id),
  constraint boot_roster_state_check CHECK ((state = 'set'::text)),
  constraint boot_roster_version_check CHECK ((version > 0))
);

create table budget (
  name text not null,
  remaining bigint,
  expires_at timestamp with time zone,
  constraint budget_not_overspent CHECK ((remaining >= 0)),
  constraint budget_pkey PRIMARY KEY (name)
);

create table cn (
  server_uuid uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  hostname text not null,
  role text not null,
  admin_ip inet,
  sysinfo jsonb not null,
  console_listen_port integer,
  console_tls_spki_sha256_hex text,
  registered_at timestamp with time zone not null,
  approved_at timestamp with time zone,
  claim_code text,
  claim_code_expires_at timestamp with time zone,
  registration_id uuid,
  poll_token_sha256 text,
  bound_api_key_id uuid,
  pending_credential text,
  ticket_keys text,
  last_setup_error text,
  setup_progress jsonb,
  disk_layout jsonb,
  macs text[] default '{}'::text[] not null,
  conflict jsonb,
  setup_epoch bigint,
  setup_operation_id uuid,
  bundle_taken boolean default false not null,
  root_password_hash text,
  unproven boolean default false not null,
  announced_sysinfo jsonb,
  announced_macs text[] default '{}'::text[] not null,
  serial text,
  constraint cn_check CHECK (((claim_code IS NULL) = (claim_code_expires_at IS NULL))),
  constraint cn_check1 CHECK (((claim_code IS NULL) OR (state = 'pending'::text))),
  constraint cn_check2 CHECK (((state <> 'approved'::text) OR (bound_api_key_id IS NOT NULL))),
  constraint cn_console_listen_port_check CHECK (((console_listen_port >= 1) AND (console_listen_port <= 65535))),
  constraint cn_pkey PRIMARY KEY (server_uuid),
  constraint cn_role_check CHECK ((role = ANY (ARRAY['tenant'::text, 'edge'::text, 'both'::text]))),
  constraint cn_setup_run CHECK (((state = 'setting_up'::text) = (setup_epoch IS NOT NULL))),
  constraint cn_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'approved'::text, 'disabled'::text, 'awaiting_setup'::text, 'setting_up'::text]))),
  constraint cn_unproven CHECK (((NOT unproven) OR (state = 'pending'::text))),
  constraint cn_version_check CHECK ((version > 0))
) with (fillfactor=50);

create table cn_capacity (
  server_uuid uuid not null,
  report jsonb not null,
  reported_at timestamp with time zone not null,
  constraint cn_capacity_pkey PRIMARY KEY (server_uuid)
) with (fillfactor=50);

create table cn_load_hour (
  server_uuid uuid not null,
  hour timestamp with time zone not null,
  cpu_max double precision not null,
  cpu_counts integer[] not null,
  constraint cn_load_hour_cpu_counts_check CHECK ((cardinality(cpu_counts) = 20)),
  constraint cn_load_hour_pkey PRIMARY KEY (server_uuid, hour)
);

create table cn_load_sample (
  server_uuid uuid not null,
  at timestamp with time zone not null,
  cpu double precision,
  ram_used double precision,
  constraint cn_load_sample_cpu_check CHECK (((cpu >= (0)::double precision) AND (cpu <= (1)::double precision))),
  constraint cn_load_sample_pkey PRIMARY KEY (server_uuid, at),
  constraint cn_load_sample_ram_used_check CHECK (((ram_used >= (0)::double precision) AND (ram_used <= (1)::double precision)))
);

create table cn_load_summary (
  server_uuid uuid not null,
  summary jsonb not null,
  last_refreshed_at timestamp with time zone not null,
  long_at timestamp with time zone,
  constraint cn_load_summary_pkey PRIMARY KEY (server_uuid)
);

create table cn_nic_tag (
  server_uuid uuid not null,
  name text not null,
  physical_nic text not null,
  vlan_id integer,
  mtu integer,
  constraint cn_nic_tag_pkey PRIMARY KEY (server_uuid, name)
);

create table cn_placement (
  server_uuid uuid not null,
  reservoir_enabled boolean,
  reservoir_percent double precision,
  traits jsonb default '{}'::jsonb not null,
  reserved boolean default false not null,
  reserved_reason text,
  cordoned boolean default false not null,
  cordoned_reason text,
  overprovision_cpu double precision,
  overprovision_ram double precision,
  overprovision_disk double precision,
  fault_domain text,
  pinned_silo_uuid uuid,
  pinned_tenant_uuid uuid,
  note text,
  constraint cn_placement_check CHECK ((reserved OR (reserved_reason IS NULL))),
  constraint cn_placement_check1 CHECK ((cordoned OR (cordoned_reason IS NULL))),
  constraint cn_placement_overprovision_cpu_check CHECK ((overprovision_cpu > (0)::double precision)),
  constraint cn_placement_overprovision_disk_check CHECK ((overprovision_disk > (0)::double precision)),
  constraint cn_placement_overprovision_ram_check CHECK ((overprovision_ram > (0)::double precision)),
  constraint cn_placement_pkey PRIMARY KEY (server_uuid)
);

create table cn_signal (
  server_uuid uuid not null,
  last_seen timestamp with time zone not null,
  last_status jsonb,
  status_at timestamp with time zone,
  status_made_at timestamp with time zone,
  status_id uuid,
  constraint cn_signal_pkey PRIMARY KEY (server_uuid)
) with (fillfactor=50);

create table cn_usage (
  server_uuid uuid not null,
  cpu_units bigint default 0 not null,
  ram_mb bigint default 0 not null,
  disk_bytes bigint default 0 not null,
  instances bigint default 0 not null,
  constraint cn_usage_cpu_units_check CHECK ((cpu_units >= 0)),
  constraint cn_usage_disk_bytes_check CHECK ((disk_bytes >= 0)),
  constraint cn_usage_instances_check CHECK ((instances >= 0)),
  constraint cn_usage_pkey PRIMARY KEY (server_uuid),
  constraint cn_usage_ram_mb_check CHECK ((ram_mb >= 0))
) with (fillfactor=50);

create table console_session (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  instance_id uuid not null,
  cn uuid not null,
  mode text not null,
  take_over boolean not null,
  history_bytes integer not null,
  user_id uuid not null,
  username text not null,
  key_id uuid,
  login_id uuid,
  credential_expires_at timestamp with time zone,
  is_root boolean not null,
  ticket_sha256 text,
  relay_url text,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint console_session_history_bytes_check CHECK ((history_bytes >= 0)),
  constraint console_session_mode_check CHECK ((mode = ANY (ARRAY['write'::text, 'watch'::text, 'log'::text]))),
  constraint console_session_pkey PRIMARY KEY (id),
  constraint console_session_state_check CHECK ((state = ANY (ARRAY['ticket'::text, 'calling'::text, 'told'::text, 'open'::text]))),
  constraint console_session_version_check CHECK ((version > 0))
);

create table denial_window (
  key text not null,
  opened_at timestamp with time zone not null,
  denials bigint default 0 not null,
  request_id text not null,
  audit jsonb not null,
  constraint denial_window_denials_check CHECK ((denials >= 0)),
  constraint denial_window_pkey PRIMARY KEY (key)
) with (fillfactor=50);

create table disk (
  id uuid not null,
  tenant_id uuid not null,
  project_id uuid not null,
  instance_id uuid not null,
  name text not null,
  description text not null,
  kind text not null,
  size_bytes bigint not null,
  applied_bytes bigint,
  source_image_id uuid,
  created_at timestamp with time zone not null,
  resize_operation_id uuid,
  constraint disk_check CHECK ((applied_bytes <= size_bytes)),
  constraint disk_kind_check CHECK ((kind = ANY (ARRAY['boot'::text, 'data'::text]))),
  constraint disk_name UNIQUE (instance_id, name),
  constraint disk_pkey PRIMARY KEY (id),
  constraint disk_size_bytes_check CHECK ((size_bytes > 0))
);

create table enrolment_claim (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  server_uuid uuid not null,
  claim_code text not null,
  expires_at timestamp with time zone not null,
  registration_id uuid not null,
  poll_token_sha256 text not null,
  hostname text not null,
  admin_ip inet,
  sysinfo jsonb not null,
  macs text[] not null,
  serial text,
  console_listen_port integer,
  console_tls_spki_sha256_hex text,
  source text not null,
  source_bucket text not null,
  created_at timestamp with time zone not null,
  constraint enrolment_claim_console_listen_port_check CHECK (((console_listen_port >= 1) AND (console_listen_port <= 65535))),
  constraint enrolment_claim_pkey PRIMARY KEY (id),
  constraint enrolment_claim_state_check CHECK ((state = 'live'::text)),
  constraint enrolment_claim_version_check CHECK ((version > 0))
);

create table external_subnet (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  name text not null,
  description text not null,
  nic_tag text not null,
  vlan_id integer,
  ipv4_block cidr,
  ipv6_block cidr,
  provision_start_ipv4 inet,
  provision_end_ipv4 inet,
  provision_start_ipv6 inet,
  provision_end_ipv6 inet,
  owner_silos uuid[] not null,
  created_at timestamp with time zone not null,
  constraint external_subnet_check CHECK ((provision_start_ipv4 << (ipv4_block)::inet)),
  constraint external_subnet_check1 CHECK ((provision_end_ipv4 << (ipv4_block)::inet)),
  constraint external_subnet_check2 CHECK ((provision_start_ipv6 << (ipv6_block)::inet)),
  constraint external_subnet_check3 CHECK ((provision_end_ipv6 << (ipv6_block)::inet)),
  constraint external_subnet_check4 CHECK (((ipv4_block IS NOT NULL) OR (ipv6_block IS NOT NULL))),
  constraint external_subnet_check5 CHECK ((num_nulls(ipv4_block, provision_start_ipv4, provision_end_ipv4) = ANY (ARRAY[0, 3]))),
  constraint external_subnet_check6 CHECK ((num_nulls(ipv6_block, provision_start_ipv6, provision_end_ipv6) = ANY (ARRAY[0, 3]))),
  constraint external_subnet_check7 CHECK (((provision_start_ipv4 <= provision_end_ipv4) AND (provision_start_ipv6 <= provision_end_ipv6))),
  constraint external_subnet_ipv4_apart EXCLUDE USING gist (ipv4_block inet_ops WITH &&),
  constraint external_subnet_ipv4_block_check CHECK ((family((ipv4_block)::inet) = 4)),
  constraint external_subnet_ipv6_apart EXCLUDE USING gist (ipv6_block inet_ops WITH &&),
  constraint external_subnet_ipv6_block_check CHECK ((family((ipv6_block)::inet) = 6)),
  constraint external_subnet_name UNIQUE (name),
  constraint external_subnet_pkey PRIMARY KEY (id),
  constraint external_subnet_state_check CHECK ((state = 'live'::text)),
  constraint external_subnet_version_check CHECK ((version > 0)),
  constraint external_subnet_vlan_id_check CHECK (((vlan_id >= 0) AND (vlan_id <= 4094)))
);

create table failure_count (
  subject text not null,
  minute timestamp with time zone not null,
  failures integer not null,
  constraint failure_count_failures_check CHECK ((failures > 0)),
  constraint failure_count_pkey PRIMARY KEY (subject, minute)
) with (fillfactor=50);

create table firewall_rule (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  tenant_id uuid not null,
  project_id uuid not null,
  vpc_id uuid not null,
  name text not null,
  description text not null,
  priority integer not null,
  direction text not null,
  action text not null,
  protocol text not null,
  source_cidr cidr,
  destination_cidr cidr,
  source_ports jsonb,
  destination_ports jsonb,
  icmp_type_code jsonb,
  created_at timestamp with time zone not null,
  constraint firewall_rule_action_check CHECK ((action = ANY (ARRAY['allow'::text, 'deny'::text]))),
  constraint firewall_rule_check CHECK ((family((source_cidr)::inet) = family((destination_cidr)::inet))),
  constraint firewall_rule_check1 CHECK (((protocol = ANY (ARRAY['tcp'::text, 'udp'::text])) OR ((source_ports IS NULL) AND (destination_ports IS NULL)))),
  constraint firewall_rule_check2 CHECK (((protocol = ANY (ARRAY['icmp4'::text, 'icmp6'::text])) OR (icmp_type_code IS NULL))),
  constraint firewall_rule_destination_ports_check CHECK ((((destination_ports -> 'low'::text))::integer <= ((destination_ports -> 'high'::text))::integer)),
  constraint firewall_rule_direction_check CHECK ((direction = ANY (ARRAY['inbound'::text, 'outbound'::text]))),
  constraint firewall_rule_name UNIQUE (vpc_id, name),
  constraint firewall_rule_pkey PRIMARY KEY (id),
  constraint firewall_rule_priority_check CHECK (((priority >= 0) AND (priority <= 65535))),
  constraint firewall_rule_protocol_check CHECK ((protocol = ANY (ARRAY['any'::text, 'tcp'::text, 'udp'::text, 'icmp4'::text, 'icmp6'::text]))),
  constraint firewall_rule_source_ports_check CHECK ((((source_ports -> 'low'::text))::integer <= ((source_ports -> 'high'::text))::integer)),
  constraint firewall_rule_state_check CHECK ((state = 'live'::text)),
  constraint firewall_rule_version_check CHECK ((version > 0))
);

create table floating_ip (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  tenant_id uuid not null,
  project_id uuid not null,
  name text not null,
  description text not null,
  address inet not null,
  family text not null,
  pool_id text not null,
  network_id uuid,
  external_nic_tag text,
  attached_to uuid,
  attached_instance_id uuid,
  hosted_cn uuid,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  generation bigint default 0 not null,
  operation_id uuid,
  operation_kind text,
  prior_nic_id uuid,
  prior_instance_id uuid,
  prior_cn uuid,
  reclaimed_as uuid,
  constraint floating_ip_address UNIQUE (id, address),
  constraint floating_ip_at_rest CHECK (((operation_id IS NOT NULL) OR (num_nulls(prior_nic_id, reclaimed_as) = 2))),
  constraint floating_ip_bound_whole CHECK ((num_nulls(attached_to, attached_instance_id, hosted_cn) = ANY (ARRAY[0, 3]))),
  constraint floating_ip_check CHECK ((family(address) =
CASE family
    WHEN 'v4'::text THEN 4
    ELSE 6
END)),
  constraint floating_ip_check1 CHECK (((network_id IS NULL) = (external_nic_tag IS NULL))),
  constraint floating_ip_family_check CHECK ((family = ANY (ARRAY['v4'::text, 'v6'::text]))),
  constraint floating_ip_generation_check CHECK ((generation >= 0)),
  constraint floating_ip_name UNIQUE (project_id, name),
  constraint floating_ip_operation_kind_check CHECK ((operation_kind = ANY (ARRAY['attach'::text, 'detach'::text]))),
  constraint floating_ip_operation_whole CHECK (((operation_id IS NULL) = (operation_kind IS NULL))),
  constraint floating_ip_pkey PRIMARY KEY (id),
  constraint floating_ip_prior_whole CHECK ((num_nulls(prior_nic_id, prior_instance_id, prior_cn) = ANY (ARRAY[0, 3]))),
  constraint floating_ip_state_check CHECK ((state = 'live'::text)),
  constraint floating_ip_version_check CHECK ((version > 0))
);

create table idempotency (
  principal text not null,
  method text not null,
  path text not null,
  key text not null,
  body_sha256 text not null,
  msg_id uuid not null,
  created_at timestamp with time zone not null,
  place jsonb,
  constraint idempotency_body_sha256_check CHECK ((body_sha256 ~ '^[0-9a-f]{64}$'::text)),
  constraint idempotency_pkey PRIMARY KEY (principal, method, path, key)
);

create table image (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  scope_kind text not null,
  silo_id uuid,
  tenant_id uuid,
  project_id uuid,
  name text not null,
  description text not null,
  os text not null,
  os_version text not null,
  size_bytes bigint not null,
  sha256 text not null,
  source_url text,
  compatibility jsonb,
  created_at timestamp with time zone not null,
  content_bytes bigint,
  constraint image_content_bytes_check CHECK ((content_bytes > 0)),
  constraint image_name UNIQUE NULLS NOT DISTINCT (silo_id, tenant_id, project_id, name),
  constraint image_pkey PRIMARY KEY (id),
  constraint image_scope CHECK (
CASE scope_kind
    WHEN 'public'::text THEN (num_nonnulls(silo_id, tenant_id, project_id) = 0)
    WHEN 'silo'::text THEN ((silo_id IS NOT NULL) AND (num_nonnulls(tenant_id, project_id) = 0))
    WHEN 'tenant'::text THEN ((tenant_id IS NOT NULL) AND (num_nonnulls(silo_id, project_id) = 0))
    WHEN 'project'::text THEN ((num_nulls(tenant_id, project_id) = 0) AND (silo_id IS NULL))
    ELSE false
END),
  constraint image_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text)),
  constraint image_size_bytes_check CHECK ((size_bytes > 0)),
  constraint image_state_check CHECK ((state = 'live'::text)),
  constraint image_version_check CHECK ((version > 0))
);

create table image_upload (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  tenant_id uuid not null,
  project_id uuid,
  name text not null,
  description text not null,
  os text not null,
  os_version text not null,
  compatibility jsonb,
  content_bytes bigint,
  size_bytes bigint not null,
  received_bytes bigint not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint image_upload_check CHECK (((received_bytes >= 0) AND (received_bytes <= size_bytes))),
  constraint image_upload_pkey PRIMARY KEY (id),
  constraint image_upload_project_id_check CHECK ((project_id IS NULL)),
  constraint image_upload_size_bytes_check CHECK ((size_bytes > 0)),
  constraint image_upload_state_check CHECK ((state = 'open'::text)),
  constraint image_upload_version_check CHECK ((version > 0))
);

create table instance (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  host_cn_uuid uuid,
  image_id uuid not null,
  tenant_id uuid not null,
  project_id uuid not null,
  name text not null,
  description text not null,
  brand text not null,
  cpu bigint not null,
  memory_bytes bigint not null,
  primary_subnet_id uuid not null,
  ssh_key_ids uuid[] not null,
  reason text,
  operation_id uuid,
  operation_kind text,
  job_begun boolean default false not null,
  unwinding_as uuid,
  floating_ip_ids uuid[] default '{}'::uuid[] not null,
  reported_at timestamp with time zone,
  missed_reports integer default 0 not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint instance_brand_check CHECK ((brand = ANY (ARRAY['kvm'::text, 'bhyve'::text, 'lx'::text, 'native-minimal'::text, 'not-applicable'::text]))),
  constraint instance_check CHECK (((operation_id IS NULL) = (operation_kind IS NULL))),
  constraint instance_check1 CHECK (((operation_id IS NOT NULL) OR ((unwinding_as IS NULL) AND (NOT job_begun)))),
  constraint instance_check2 CHECK (((state <> 'failed'::text) OR (reason IS NOT NULL))),
  constraint instance_check3 CHECK (((state <> ALL (ARRAY['pending'::text, 'stopping'::text])) OR (operation_id IS NOT NULL))),
  constraint instance_cpu_check CHECK ((cpu > 0)),
  constraint instance_memory_bytes_check CHECK ((memory_bytes > 0)),
  constraint instance_missed_reports_check CHECK (((missed_reports >= 0) AND (missed_reports <= 2))),
  constraint instance_name UNIQUE (project_id, name),
  constraint instance_operation_kind_check CHECK ((operation_kind = ANY (ARRAY['create'::text, 'start'::text, 'stop'::text, 'restart'::text, 'retry'::text, 'delete'::text]))),
  constraint instance_owner UNIQUE (id, tenant_id, project_id),
  constraint instance_pkey PRIMARY KEY (id),
  constraint instance_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'provisioning'::text, 'running'::text, 'stopping'::text, 'stopped'::text, 'failed'::text]))),
  constraint instance_version_check CHECK ((version > 0))
);

create table job (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  seq bigint not null,
  kind text not null,
  target_cn uuid not null,
  payload jsonb not null,
  saga_id uuid not null,
  created_at timestamp with time zone not null,
  claimed_by text,
  claimed_at timestamp with time zone,
  lease_until timestamp with time zone,
  result jsonb,
  reason text,
  tombstone boolean,
  completed_at timestamp with time zone,
  burial_told_as uuid,
  lease_s integer,
  constraint job_pkey PRIMARY KEY (id),
  constraint job_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'in_progress'::text, 'completed'::text, 'failed'::text, 'cancelled'::text]))),
  constraint job_tombstone_claimed CHECK (((tombstone IS NOT TRUE) OR (claimed_by IS NOT NULL))),
  constraint job_version_check CHECK ((version > 0))
);

create table job_signal (
  job_id uuid not null,
  renewed_at timestamp with time zone,
  step text,
  percent real,
  progress_at timestamp with time zone,
  constraint job_signal_pkey PRIMARY KEY (job_id)
) with (fillfactor=50);

create table lab_clock (
  only_row boolean default true not null,
  ahead interval default '00:00:00'::interval not null,
  constraint lab_clock_ahead_check CHECK ((ahead >= '00:00:00'::interval)),
  constraint lab_clock_only_row_check CHECK (only_row),
  constraint lab_clock_pkey PRIMARY KEY (only_row)
);

create table load_pass (
  one boolean default true not null,
  at timestamp with time zone not null,
  constraint load_pass_one_check CHECK (one),
  constraint load_pass_pkey PRIMARY KEY (one)
);

create table migration (
  id uuid not null,
  state text not null,
  source_cn uuid not null,
  target_cn uuid not null,
  instance_id uuid,
  constraint migration_pkey PRIMARY KEY (id)
);

create table nat_gateway (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  tenant_id uuid not null,
  project_id uuid not null,
  vpc_id uuid not null,
  name text not null,
  description text not null,
  family text not null,
  public_address inet not null,
  desired_generation integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint nat_gateway_address UNIQUE (id, public_address),
  constraint nat_gateway_check CHECK ((family(public_address) =
CASE family
    WHEN 'v4'::text THEN 4
    ELSE 6
END)),
  constraint nat_gateway_desired_generation_check CHECK ((desired_generation > 0)),
  constraint nat_gateway_family_check CHECK ((family = ANY (ARRAY['v4'::text, 'v6'::text]))),
  constraint nat_gateway_in_vpc UNIQUE (id, vpc_id),
  constraint nat_gateway_name UNIQUE (vpc_id, name),
  constraint nat_gateway_pkey PRIMARY KEY (id),
  constraint nat_gateway_state_check CHECK ((state = 'live'::text)),
  constraint nat_gateway_version_check CHECK ((version > 0))
);

create table network_pool (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  name text not null,
  description text not null,
  networks uuid[] not null,
  owner_silos uuid[] not null,
  created_at timestamp with time zone not null,
  constraint network_pool_name UNIQUE (name),
  constraint network_pool_networks_check CHECK ((cardinality(networks) > 0)),
  constraint network_pool_pkey PRIMARY KEY (id),
  constraint network_pool_state_check CHECK ((state = 'live'::text)),
  constraint network_pool_version_check CHECK ((version > 0))
);

create table network_pool_network (
  network_pool_id uuid not null,
  network_id uuid not null,
  constraint network_pool_network_pkey PRIMARY KEY (network_pool_id, network_id)
);

create table nic (
  id uuid not null,
  tenant_id uuid not null,
  project_id uuid not null,
  instance_id uuid not null,
  vpc_id uuid not null,
  subnet_id uuid not null,
  ordinal integer not null,
  name text not null,
  mac macaddr not null,
  primary_ipv4 inet,
  primary_ipv6 inet,
  created_at timestamp with time zone not null,
  constraint nic_check CHECK (((primary_ipv4 IS NOT NULL) OR (primary_ipv6 IS NOT NULL))),
  constraint nic_ipv4 UNIQUE (subnet_id, primary_ipv4),
  constraint nic_ipv6 UNIQUE (subnet_id, primary_ipv6),
  constraint nic_mac UNIQUE (mac),
  constraint nic_mac_check CHECK (((trunc(mac) & '01:00:00:00:00:00'::macaddr) = '00:00:00:00:00:00'::macaddr)),
  constraint nic_name UNIQUE (instance_id, name),
  constraint nic_ordinal UNIQUE (instance_id, ordinal),
  constraint nic_ordinal_check CHECK ((ordinal >= 0)),
  constraint nic_owner UNIQUE (id, instance_id, tenant_id, project_id),
  constraint nic_pkey PRIMARY KEY (id),
  constraint nic_primary_ipv4_check CHECK ((family(primary_ipv4) = 4)),
  constraint nic_primary_ipv6_check CHECK ((family(primary_ipv6) = 6))
);

create table nic_tag (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  name text not null,
  description text not null,
  mtu integer not null,
  created_at timestamp with time zone not null,
  constraint nic_tag_mtu_check CHECK (((mtu >= 1280) AND (mtu <= 9216))),
  constraint nic_tag_name UNIQUE (name),
  constraint nic_tag_pkey PRIMARY KEY (id),
  constraint nic_tag_state_check CHECK ((state = 'live'::text)),
  constraint nic_tag_version_check CHECK ((version > 0))
);

create table outbox (
  id uuid not null,
  to_kind text not null,
  to_id text not null,
  message jsonb not null,
  created_at timestamp with time zone default berth_now() not null,
  constraint outbox_pkey PRIMARY KEY (id)
);

create table placement_reservation (
  server_uuid uuid not null,
  saga_id uuid not null,
  instance_id uuid not null,
  expires_at timestamp with time zone not null,
  constraint placement_reservation_pkey PRIMARY KEY (server_uuid, saga_id)
);

create table pool (
  id text not null,
  base inet,
  network cidr,
  constraint pool_blocks_apart EXCLUDE USING gist (network inet_ops WITH &&),
  constraint pool_pkey PRIMARY KEY (id)
);

create table pool_range (
  pool_id text not null,
  low bigint not null,
  high bigint not null,
  constraint pool_range_check CHECK ((high >= low)),
  constraint pool_range_pkey PRIMARY KEY (pool_id, low)
);

create table project (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  tenant_id uuid not null,
  name text not null,
  description text not null,
  created_at timestamp with time zone not null,
  constraint project_name UNIQUE (tenant_id, name),
  constraint project_of_tenant UNIQUE (id, tenant_id),
  constraint project_pkey PRIMARY KEY (id),
  constraint project_state_check CHECK ((state = 'live'::text)),
  constraint project_version_check CHECK ((version > 0))
);

create table project_usage (
  project_id uuid not null,
  cpu bigint default 0 not null,
  memory_bytes bigint default 0 not null,
  disk_bytes bigint default 0 not null,
  instances bigint default 0 not null,
  constraint project_usage_cpu_check CHECK ((cpu >= 0)),
  constraint project_usage_disk_bytes_check CHECK ((disk_bytes >= 0)),
  constraint project_usage_instances_check CHECK ((instances >= 0)),
  constraint project_usage_memory_bytes_check CHECK ((memory_bytes >= 0)),
  constraint project_usage_pkey PRIMARY KEY (project_id)
);

create table public_address (
  address inet not null,
  nat_gateway_id uuid,
  floating_ip_id uuid,
  constraint public_address_check CHECK ((num_nonnulls(nat_gateway_id, floating_ip_id) = 1)),
  constraint public_address_once PRIMARY KEY (address)
);

create table quota (
  project_id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  tenant_id uuid not null,
  cpu_limit bigint not null,
  memory_bytes bigint not null,
  disk_bytes bigint not null,
  instance_limit bigint not null,
  updated_at timestamp with time zone not null,
  constraint quota_cpu_limit_check CHECK ((cpu_limit >= 0)),
  constraint quota_disk_bytes_check CHECK ((disk_bytes >= 0)),
  constraint quota_instance_limit_check CHECK ((instance_limit >= 0)),
  constraint quota_memory_bytes_check CHECK ((memory_bytes >= 0)),
  constraint quota_pkey PRIMARY KEY (project_id),
  constraint quota_state_check CHECK ((state = 'set'::text)),
  constraint quota_version_check CHECK ((version > 0))
);

create table rate_bucket (
  bucket text not null,
  full_at timestamp with time zone not null,
  constraint rate_bucket_bucket_check CHECK ((length(bucket) <= 200)),
  constraint rate_bucket_pkey PRIMARY KEY (bucket)
) with (fillfactor=50);

create table route (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  tenant_id uuid not null,
  project_id uuid not null,
  vpc_id uuid not null,
  route_table_id uuid not null,
  name text not null,
  description text not null,
  destination cidr not null,
  target_kind text not null,
  nat_gateway_id uuid,
  created_at timestamp with time zone not null,
  constraint route_check CHECK (((target_kind = 'nat_gateway'::text) = (nat_gateway_id IS NOT NULL))),
  constraint route_destination UNIQUE (route_table_id, destination),
  constraint route_pkey PRIMARY KEY (id),
  constraint route_state_check CHECK ((state = 'live'::text)),
  constraint route_target_kind_check CHECK ((target_kind = ANY (ARRAY['blackhole'::text, 'reject'::text, 'virtual_gateway'::text, 'nat_gateway'::text]))),
  constraint route_version_check CHECK ((version > 0))
);

create table route_table (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  tenant_id uuid not null,
  project_id uuid not null,
  vpc_id uuid not null,
  name text not null,
  description text not null,
  is_main boolean not null,
  created_at timestamp with time zone not null,
  constraint route_table_check CHECK (((NOT is_main) OR (name = 'main'::text))),
  constraint route_table_name UNIQUE (vpc_id, name),
  constraint route_table_of_vpc UNIQUE (id, vpc_id),
  constraint route_table_pkey PRIMARY KEY (id),
  constraint route_table_state_check CHECK ((state = 'live'::text)),
  constraint route_table_version_check CHECK ((version > 0))
);

create table saga (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  saga text not null,
  params jsonb not null,
  refs jsonb not null,
  outputs jsonb not null,
  steps jsonb not null,
  early jsonb not null,
  error text,
  created_at timestamp with time zone not null,
  step text,
  job_id uuid,
  attempts integer,
  due_at timestamp with time zone,
  done_at timestamp with time zone,
  stuck_reason text,
  constraint saga_check CHECK (((state = 'stuck'::text) = (stuck_reason IS NOT NULL))),
  constraint saga_check1 CHECK (((state = ANY (ARRAY['succeeded'::text, 'unwound'::text])) = (done_at IS NOT NULL))),
  constraint saga_pkey PRIMARY KEY (id),
  constraint saga_state_check CHECK ((state = ANY (ARRAY['running'::text, 'unwinding'::text, 'succeeded'::text, 'unwound'::text, 'stuck'::text]))),
  constraint saga_version_check CHECK ((version > 0))
);

create table schema_function (
  name text not null,
  sha256 text not null,
  release text not null,
  applied_at timestamp with time zone default now() not null,
  constraint schema_function_pkey PRIMARY KEY (name)
);

create table schema_migration (
  number integer not null,
  name text not null,
  sha256 text not null,
  applied_at timestamp with time zone default now() not null,
  constraint schema_migration_pkey PRIMARY KEY (number)
);

create table sealed_user_data (
  instance_id uuid not null,
  plain text,
  sealed text,
  constraint instance_user_data_pkey PRIMARY KEY (instance_id),
  constraint sealed_user_data_once CHECK ((num_nonnulls(plain, sealed) = 1))
);

create table seen (
  msg_id uuid not null,
  reply text not null,
  constraint seen_pkey PRIMARY KEY (msg_id)
) partition by RANGE (msg_id);

create table server_secret (
  only_row boolean default true not null,
  secret bytea not null,
  created_at timestamp with time zone default berth_now() not null,
  constraint server_secret_only_row_check CHECK (only_row),
  constraint server_secret_pkey PRIMARY KEY (only_row),
  constraint server_secret_secret_check CHECK ((octet_length(secret) >= 32))
);

create table session (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  user_id uuid not null,
  user_epoch integer not null,
  generation integer not null,
  created_at timestamp with time zone not null,
  refreshed_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint session_generation_check CHECK ((generation > 0)),
  constraint session_pkey PRIMARY KEY (id),
  constraint session_state_check CHECK ((state = 'live'::text)),
  constraint session_version_check CHECK ((version > 0))
);

create table setting (
  key text not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  value jsonb not null,
  updated_at timestamp with time zone not null,
  constraint setting_pkey PRIMARY KEY (key),
  constraint setting_state_check CHECK ((state = 'set'::text)),
  constraint setting_version_check CHECK ((version > 0))
);

create table silo (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  name text not null,
  description text not null,
  default_tenant_id uuid not null,
  created_at timestamp with time zone not null,
  constraint silo_name UNIQUE (name),
  constraint silo_pkey PRIMARY KEY (id),
  constraint silo_state_check CHECK ((state = 'live'::text)),
  constraint silo_version_check CHECK ((version > 0))
);

create table site (
  id text not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  window_opened_at timestamp with time zone,
  window_expires_at timestamp with time zone,
  window_count bigint,
  window_opened_by uuid,
  constraint site_check CHECK (((state = 'window_open'::text) = ((window_opened_at IS NOT NULL) AND (window_expires_at IS NOT NULL) AND (window_opened_by IS NOT NULL)))),
  constraint site_check1 CHECK ((window_expires_at <= (window_opened_at + '24:00:00'::interval))),
  constraint site_id_check CHECK ((id = 'site'::text)),
  constraint site_pkey PRIMARY KEY (id),
  constraint site_state_check CHECK ((state = ANY (ARRAY['window_closed'::text, 'window_open'::text]))),
  constraint site_version_check CHECK ((version > 0)),
  constraint site_window_count_check CHECK ((window_count > 0))
);

create table ssh_key (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  scope_kind text not null,
  silo_id uuid,
  tenant_id uuid,
  project_id uuid,
  user_id uuid,
  name text not null,
  description text not null,
  public_key text not null,
  fingerprint text not null,
  created_at timestamp with time zone not null,
  constraint ssh_key_fingerprint UNIQUE NULLS NOT DISTINCT (silo_id, tenant_id, project_id, user_id, fingerprint),
  constraint ssh_key_fingerprint_check CHECK ((fingerprint ~ '^SHA256:[A-Za-z0-9+/]{43}$'::text)),
  constraint ssh_key_name UNIQUE NULLS NOT DISTINCT (silo_id, tenant_id, project_id, user_id, name),
  constraint ssh_key_pkey PRIMARY KEY (id),
  constraint ssh_key_scope CHECK (
CASE scope_kind
    WHEN 'public'::text THEN (num_nonnulls(silo_id, tenant_id, project_id, user_id) = 0)
    WHEN 'silo'::text THEN ((silo_id IS NOT NULL) AND (num_nonnulls(tenant_id, project_id, user_id) = 0))
    WHEN 'tenant'::text THEN ((tenant_id IS NOT NULL) AND (num_nonnulls(silo_id, project_id, user_id) = 0))
    WHEN 'project'::text THEN ((num_nulls(tenant_id, project_id) = 0) AND (num_nonnulls(silo_id, user_id) = 0))
    WHEN 'user'::text THEN ((user_id IS NOT NULL) AND (num_nonnulls(silo_id, project_id) = 0))
    ELSE false
END),
  constraint ssh_key_state_check CHECK ((state = 'live'::text)),
  constraint ssh_key_version_check CHECK ((version > 0))
);

create table staging (
  staged_by uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  stamps jsonb not null,
  staged_at timestamp with time zone not null,
  constraint staging_pkey PRIMARY KEY (staged_by),
  constraint staging_state_check CHECK ((state = 'set'::text)),
  constraint staging_version_check CHECK ((version > 0))
);

create table subnet (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  tenant_id uuid not null,
  project_id uuid not null,
  vpc_id uuid not null,
  route_table_id uuid not null,
  name text not null,
  description text not null,
  ipv4_block cidr,
  ipv6_block cidr,
  vpc_ipv4_block cidr,
  vpc_ipv6_block cidr,
  created_at timestamp with time zone not null,
  constraint subnet_check CHECK (((ipv4_block IS NOT NULL) OR (ipv6_block IS NOT NULL))),
  constraint subnet_check1 CHECK (
CASE
    WHEN (ipv4_block IS NULL) THEN (vpc_ipv4_block IS NULL)
    ELSE ((vpc_ipv4_block IS NOT NULL) AND ((ipv4_block)::inet <<= (vpc_ipv4_block)::inet))
END),
  constraint subnet_check2 CHECK (
CASE
    WHEN (ipv6_block IS NULL) THEN (vpc_ipv6_block IS NULL)
    ELSE ((vpc_ipv6_block IS NOT NULL) AND ((ipv6_block)::inet <<= (vpc_ipv6_block)::inet))
END),
  constraint subnet_ipv4_apart EXCLUDE USING gist (vpc_id WITH =, ipv4_block inet_ops WITH &&),
  constraint subnet_ipv4_block_check CHECK (((family((ipv4_block)::inet) = 4) AND (masklen((ipv4_block)::inet) <= 30))),
  constraint subnet_ipv6_apart EXCLUDE USING gist (vpc_id WITH =, ipv6_block inet_ops WITH &&),
  constraint subnet_ipv6_block_check CHECK (((family((ipv6_block)::inet) = 6) AND (masklen((ipv6_block)::inet) <= 126))),
  constraint subnet_name UNIQUE (vpc_id, name),
  constraint subnet_owner UNIQUE (id, vpc_id, tenant_id, project_id),
  constraint subnet_pkey PRIMARY KEY (id),
  constraint subnet_state_check CHECK ((state = 'live'::text)),
  constraint subnet_version_check CHECK ((version > 0))
);

create table tenant (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  silo_id uuid not null,
  name text not null,
  description text not null,
  created_at timestamp with time zone not null,
  constraint tenant_name UNIQUE (silo_id, name),
  constraint tenant_pkey PRIMARY KEY (id),
  constraint tenant_state_check CHECK ((state = 'live'::text)),
  constraint tenant_version_check CHECK ((version > 0))
);

create table tenant_idp (
  tenant_id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  issuer_url text not null,
  client_id text not null,
  client_secret text not null,
  audience text not null,
  created_at timestamp with time zone not null,
  constraint tenant_idp_issuer UNIQUE (issuer_url),
  constraint tenant_idp_pkey PRIMARY KEY (tenant_id),
  constraint tenant_idp_state_check CHECK ((state = 'set'::text)),
  constraint tenant_idp_version_check CHECK ((version > 0))
);

create table tenant_quota (
  tenant_id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  cpu_limit bigint not null,
  memory_bytes bigint not null,
  disk_bytes bigint not null,
  instance_limit bigint not null,
  updated_at timestamp with time zone not null,
  constraint tenant_quota_cpu_limit_check CHECK ((cpu_limit >= 0)),
  constraint tenant_quota_disk_bytes_check CHECK ((disk_bytes >= 0)),
  constraint tenant_quota_instance_limit_check CHECK ((instance_limit >= 0)),
  constraint tenant_quota_memory_bytes_check CHECK ((memory_bytes >= 0)),
  constraint tenant_quota_pkey PRIMARY KEY (tenant_id),
  constraint tenant_quota_state_check CHECK ((state = 'set'::text)),
  constraint tenant_quota_version_check CHECK ((version > 0))
);

create table tenant_usage (
  tenant_id uuid not null,
  cpu bigint default 0 not null,
  memory_bytes bigint default 0 not null,
  disk_bytes bigint default 0 not null,
  instances bigint default 0 not null,
  constraint tenant_usage_cpu_check CHECK ((cpu >= 0)),
  constraint tenant_usage_disk_bytes_check CHECK ((disk_bytes >= 0)),
  constraint tenant_usage_instances_check CHECK ((instances >= 0)),
  constraint tenant_usage_memory_bytes_check CHECK ((memory_bytes >= 0)),
  constraint tenant_usage_pkey PRIMARY KEY (tenant_id)
);

create table transition (
  id bigint generated always as identity not null,
  xid xid8 default pg_current_xact_id() not null,
  actor_kind text not null,
  actor_id text not null,
  incarnation uuid not null,
  seq bigint not null,
  event text not null,
  from_state text not null,
  to_state text not null,
  msg_id uuid not null,
  at timestamp with time zone not null,
  audit jsonb,
  constraint transition_one_writer UNIQUE (actor_kind, actor_id, incarnation, seq),
  constraint transition_pkey PRIMARY KEY (id),
  constraint transition_seq_check CHECK ((seq > 0))
);

create table user_account (
  id uuid not null,
  username text not null,
  is_root boolean default false not null,
  created_at timestamp with time zone default berth_now() not null,
  incarnation uuid default gen_random_uuid() not null,
  version bigint default 1 not null,
  wake_at timestamp with time zone,
  state text default 'live'::text not null,
  tenant_id uuid,
  password_hash text,
  capabilities text[] default '{}'::text[] not null,
  issuer text,
  subject text,
  session_epoch integer default 0 not null,
  constraint user_account_check CHECK ((((issuer IS NULL) = (subject IS NULL)) AND ((issuer IS NULL) OR (password_hash IS NULL)))),
  constraint user_account_pkey PRIMARY KEY (id),
  constraint user_account_state_check CHECK ((state = 'live'::text)),
  constraint user_account_version_check CHECK ((version > 0)),
  constraint user_capabilities CHECK ((capabilities <@ ARRAY['system-read'::text, 'system-operate'::text, 'system-config-write'::text, 'storage-admin'::text, 'silo-admin'::text]))
);

create table vpc (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  tenant_id uuid not null,
  project_id uuid not null,
  main_route_table_id uuid not null,
  name text not null,
  description text not null,
  vni integer not null,
  ipv4_block cidr,
  ipv6_block cidr,
  created_at timestamp with time zone not null,
  constraint vpc_check CHECK (((ipv4_block IS NOT NULL) OR (ipv6_block IS NOT NULL))),
  constraint vpc_ipv4_block_check CHECK ((family((ipv4_block)::inet) = 4)),
  constraint vpc_ipv4_plan UNIQUE (id, ipv4_block),
  constraint vpc_ipv6_block_check CHECK ((family((ipv6_block)::inet) = 6)),
  constraint vpc_ipv6_plan UNIQUE (id, ipv6_block),
  constraint vpc_name UNIQUE (project_id, name),
  constraint vpc_owner UNIQUE (id, tenant_id, project_id),
  constraint vpc_pkey PRIMARY KEY (id),
  constraint vpc_state_check CHECK ((state = 'live'::text)),
  constraint vpc_version_check CHECK ((version > 0)),
  constraint vpc_vni UNIQUE (vni),
  constraint vpc_vni_check CHECK (((vni >= 4096) AND (vni <= 16777215)))
);

create table seen_other partition of seen DEFAULT;

CREATE OR REPLACE FUNCTION public.berth_budget_allows(of_budget budget, amount bigint)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select (of_budget.remaining is null or of_budget.remaining >= amount)
     and (of_budget.expires_at is null or of_budget.expires_at > berth_now()) $function$;

CREATE OR REPLACE FUNCTION public.berth_free_ranges(of_pool text, low_bound bigint, high_bound bigint)
 RETURNS SETOF pool_range
 LANGUAGE sql
 STABLE
AS $function$
  select r.* from pool_range r
   where r.pool_id = of_pool and r.high >= coalesce(low_bound, r.low) and r.low <= coalesce(high_bound, r.low) $function$;

alter table api_key add constraint api_key_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id);
alter table api_key add constraint api_key_user_id_fkey FOREIGN KEY (user_id) REFERENCES user_account(id);
alter table api_key_use add constraint api_key_use_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id) ON DELETE CASCADE;
alter table cn_capacity add constraint cn_capacity_server_uuid_fkey FOREIGN KEY (server_uuid) REFERENCES cn(server_uuid) ON DELETE CASCADE;
alter table cn_load_hour add constraint cn_load_hour_server_uuid_fkey FOREIGN KEY (server_uuid) REFERENCES cn(server_uuid) ON DELETE CASCADE;
alter table cn_load_sample add constraint cn_load_sample_server_uuid_fkey FOREIGN KEY (server_uuid) REFERENCES cn(server_uuid) ON DELETE CASCADE;
alter table cn_load_summary add constraint cn_load_summary_server_uuid_fkey FOREIGN KEY (server_uuid) REFERENCES cn(server_uuid) ON DELETE CASCADE;
alter table cn_nic_tag add constraint cn_nic_tag_server_uuid_fkey FOREIGN KEY (server_uuid) REFERENCES cn(server_uuid) ON DELETE CASCADE;
alter table cn_signal add constraint cn_signal_server_uuid_fkey FOREIGN KEY (server_uuid) REFERENCES cn(server_uuid) ON DELETE CASCADE;
alter table cn_usage add constraint cn_usage_server_uuid_fkey FOREIGN KEY (server_uuid) REFERENCES cn(server_uuid) ON DELETE CASCADE;
alter table disk add constraint disk_instance_fkey FOREIGN KEY (instance_id, tenant_id, project_id) REFERENCES instance(id, tenant_id, project_id);
alter table disk add constraint disk_source_image_id_fkey FOREIGN KEY (source_image_id) REFERENCES image(id);
alter table enrolment_claim add constraint enrolment_claim_server_uuid_fkey FOREIGN KEY (server_uuid) REFERENCES cn(server_uuid) DEFERRABLE INITIALLY DEFERRED;
alter table external_subnet add constraint external_subnet_nic_tag FOREIGN KEY (nic_tag) REFERENCES nic_tag(name);
alter table firewall_rule add constraint firewall_rule_vpc_fkey FOREIGN KEY (vpc_id, tenant_id, project_id) REFERENCES vpc(id, tenant_id, project_id);
alter table floating_ip add constraint floating_ip_bound_to_nic FOREIGN KEY (attached_to, attached_instance_id, tenant_id, project_id) REFERENCES nic(id, instance_id, tenant_id, project_id);
alter table floating_ip add constraint floating_ip_has_address FOREIGN KEY (address) REFERENCES public_address(address) DEFERRABLE INITIALLY DEFERRED;
alter table floating_ip add constraint floating_ip_network FOREIGN KEY (network_id) REFERENCES external_subnet(id);
alter table floating_ip add constraint floating_ip_of_project FOREIGN KEY (project_id, tenant_id) REFERENCES project(id, tenant_id);
alter table floating_ip add constraint floating_ip_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES pool(id);
alter table image add constraint image_project_fkey FOREIGN KEY (project_id, tenant_id) REFERENCES project(id, tenant_id);
alter table image add constraint image_silo_fkey FOREIGN KEY (silo_id) REFERENCES silo(id);
alter table image add constraint image_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id);
alter table image_upload add constraint image_upload_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;
alter table instance add constraint instance_image_fkey FOREIGN KEY (image_id) REFERENCES image(id);
alter table instance add constraint instance_project_fkey FOREIGN KEY (project_id, tenant_id) REFERENCES project(id, tenant_id);
alter table job_signal add constraint job_signal_job_id_fkey FOREIGN KEY (job_id) REFERENCES job(id) ON DELETE CASCADE;
alter table nat_gateway add constraint nat_gateway_has_address FOREIGN KEY (public_address) REFERENCES public_address(address) DEFERRABLE INITIALLY DEFERRED;
alter table nat_gateway add constraint nat_gateway_of_vpc FOREIGN KEY (vpc_id, tenant_id, project_id) REFERENCES vpc(id, tenant_id, project_id);
alter table network_pool_network add constraint network_pool_network_network_id_fkey FOREIGN KEY (network_id) REFERENCES external_subnet(id);
alter table network_pool_network add constraint network_pool_network_network_pool_id_fkey FOREIGN KEY (network_pool_id) REFERENCES network_pool(id);
alter table nic add constraint nic_instance_fkey FOREIGN KEY (instance_id, tenant_id, project_id) REFERENCES instance(id, tenant_id, project_id);
alter table nic add constraint nic_subnet_fkey FOREIGN KEY (subnet_id, vpc_id, tenant_id, project_id) REFERENCES subnet(id, vpc_id, tenant_id, project_id);
alter table pool_range add constraint pool_range_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES pool(id) ON DELETE CASCADE;
alter table project add constraint project_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id);
alter table project_usage add constraint project_usage_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;
alter table public_address add constraint public_address_of_floating_ip FOREIGN KEY (floating_ip_id, address) REFERENCES floating_ip(id, address);
alter table public_address add constraint public_address_of_nat_gateway FOREIGN KEY (nat_gateway_id, address) REFERENCES nat_gateway(id, public_address);
alter table quota add constraint quota_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;
alter table route add constraint route_nat_gateway_fkey FOREIGN KEY (nat_gateway_id, vpc_id) REFERENCES nat_gateway(id, vpc_id);
alter table route add constraint route_route_table_fkey FOREIGN KEY (route_table_id, vpc_id) REFERENCES route_table(id, vpc_id);
alter table route add constraint route_vpc_fkey FOREIGN KEY (vpc_id, tenant_id, project_id) REFERENCES vpc(id, tenant_id, project_id);
alter table route_table add constraint route_table_vpc_fkey FOREIGN KEY (vpc_id, tenant_id, project_id) REFERENCES vpc(id, tenant_id, project_id) DEFERRABLE INITIALLY DEFERRED;
alter table sealed_user_data add constraint instance_user_data_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES instance(id) ON DELETE CASCADE;
alter table session add constraint session_user_id_fkey FOREIGN KEY (user_id) REFERENCES user_account(id) ON DELETE CASCADE;
alter table silo add constraint silo_default_tenant FOREIGN KEY (default_tenant_id) REFERENCES tenant(id) DEFERRABLE INITIALLY DEFERRED;
alter table ssh_key add constraint ssh_key_project_fkey FOREIGN KEY (project_id, tenant_id) REFERENCES project(id, tenant_id);
alter table ssh_key add constraint ssh_key_silo_fkey FOREIGN KEY (silo_id) REFERENCES silo(id);
alter table ssh_key add constraint ssh_key_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id);
alter table ssh_key add constraint ssh_key_user_fkey FOREIGN KEY (user_id) REFERENCES user_account(id) ON DELETE CASCADE;
alter table subnet add constraint subnet_ipv4_plan_fkey FOREIGN KEY (vpc_id, vpc_ipv4_block) REFERENCES vpc(id, ipv4_block);
alter table subnet add constraint subnet_ipv6_plan_fkey FOREIGN KEY (vpc_id, vpc_ipv6_block) REFERENCES vpc(id, ipv6_block);
alter table subnet add constraint subnet_route_table_fkey FOREIGN KEY (route_table_id, vpc_id) REFERENCES route_table(id, vpc_id);
alter table subnet add constraint subnet_vpc_fkey FOREIGN KEY (vpc_id, tenant_id, project_id) REFERENCES vpc(id, tenant_id, project_id);
alter table tenant add constraint tenant_silo_id_fkey FOREIGN KEY (silo_id) REFERENCES silo(id);
alter table tenant_idp add constraint tenant_idp_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id);
alter table tenant_quota add constraint tenant_quota_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;
alter table tenant_usage add constraint tenant_usage_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;
alter table user_account add constraint user_account_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id);
alter table vpc add constraint vpc_main_route_table_fkey FOREIGN KEY (main_route_table_id, id) REFERENCES route_table(id, vpc_id) DEFERRABLE INITIALLY DEFERRED;
alter table vpc add constraint vpc_project_fkey FOREIGN KEY (project_id, tenant_id) REFERENCES project(id, tenant_id);

CREATE INDEX api_key_of_tenant ON public.api_key USING btree (tenant_id, created_at) WHERE (tenant_id IS NOT NULL);
CREATE INDEX api_key_of_user ON public.api_key USING btree (user_id, created_at);
CREATE INDEX api_key_secret ON public.api_key USING btree (secret_sha256);
CREATE INDEX boot_record_by_state ON public.boot_record USING btree (state, mac);
CREATE INDEX boot_record_of_node ON public.boot_record USING btree (server_uuid) WHERE (server_uuid IS NOT NULL);
CREATE INDEX cn_by_announced_mac ON public.cn USING gin (announced_macs);
CREATE INDEX cn_by_state ON public.cn USING btree (state, registered_at, server_uuid);
CREATE UNIQUE INDEX cn_claim_code ON public.cn USING btree (claim_code) WHERE (claim_code IS NOT NULL);
CREATE INDEX cn_due ON public.cn USING btree (wake_at) WHERE (wake_at IS NOT NULL);
CREATE INDEX cn_in_order ON public.cn USING btree (registered_at, server_uuid);
CREATE UNIQUE INDEX cn_poll_token ON public.cn USING btree (poll_token_sha256) WHERE (poll_token_sha256 IS NOT NULL);
CREATE INDEX cn_unproven ON public.cn USING btree (server_uuid) WHERE unproven;
CREATE INDEX cn_load_hour_age ON public.cn_load_hour USING btree (hour);
CREATE INDEX cn_load_sample_age ON public.cn_load_sample USING btree (at);
CREATE INDEX console_session_calling ON public.console_session USING btree (cn) WHERE (state = ANY (ARRAY['calling'::text, 'told'::text]));
CREATE INDEX console_session_due ON public.console_session USING btree (wake_at) WHERE (wake_at IS NOT NULL);
CREATE UNIQUE INDEX console_session_ticket ON public.console_session USING btree (ticket_sha256) WHERE (state = 'ticket'::text);
CREATE INDEX denial_window_age ON public.denial_window USING btree (opened_at);
CREATE UNIQUE INDEX disk_one_boot ON public.disk USING btree (instance_id) WHERE (kind = 'boot'::text);
CREATE INDEX disk_unmade ON public.disk USING btree (instance_id) WHERE ((applied_bytes IS NULL) OR (applied_bytes < size_bytes));
CREATE UNIQUE INDEX enrolment_claim_code ON public.enrolment_claim USING btree (claim_code);
CREATE INDEX enrolment_claim_due ON public.enrolment_claim USING btree (wake_at) WHERE (wake_at IS NOT NULL);
CREATE INDEX enrolment_claim_of_node ON public.enrolment_claim USING btree (server_uuid, expires_at, id);
CREATE INDEX enrolment_claim_of_source ON public.enrolment_claim USING btree (source_bucket, expires_at);
CREATE UNIQUE INDEX enrolment_claim_poll_token ON public.enrolment_claim USING btree (poll_token_sha256);
CREATE INDEX external_subnet_on_tag ON public.external_subnet USING btree (nic_tag);
CREATE INDEX firewall_rule_in_vpc ON public.firewall_rule USING btree (vpc_id, id);
CREATE INDEX floating_ip_attached ON public.floating_ip USING btree (attached_to) WHERE (attached_to IS NOT NULL);
CREATE INDEX floating_ip_by_address ON public.floating_ip USING btree (address);
CREATE INDEX floating_ip_from_instance ON public.floating_ip USING btree (prior_instance_id) WHERE (prior_instance_id IS NOT NULL);
CREATE INDEX floating_ip_of_instance ON public.floating_ip USING btree (attached_instance_id) WHERE (attached_instance_id IS NOT NULL);
CREATE INDEX floating_ip_of_network ON public.floating_ip USING btree (network_id) WHERE (network_id IS NOT NULL);
CREATE INDEX floating_ip_of_pool ON public.floating_ip USING btree (pool_id);
CREATE INDEX floating_ip_of_project_in_order ON public.floating_ip USING btree (project_id, id);
CREATE INDEX idempotency_age ON public.idempotency USING btree (created_at);
CREATE INDEX image_of_project ON public.image USING btree (project_id) WHERE (project_id IS NOT NULL);
CREATE INDEX image_of_tenant ON public.image USING btree (tenant_id) WHERE (tenant_id IS NOT NULL);
CREATE INDEX image_public ON public.image USING btree (id) WHERE (scope_kind = 'public'::text);
CREATE INDEX image_uploaded ON public.image USING btree (source_url) WHERE (source_url ~~ 'berth:%'::text);
CREATE INDEX image_upload_due ON public.image_upload USING btree (wake_at) WHERE (wake_at IS NOT NULL);
CREATE INDEX image_upload_of_tenant ON public.image_upload USING btree (tenant_id);
CREATE INDEX instance_of_image ON public.instance USING btree (image_id) WHERE (image_id IS NOT NULL);
CREATE INDEX instance_of_project ON public.instance USING btree (project_id, id);
CREATE INDEX instance_on_cn ON public.instance USING btree (host_cn_uuid) WHERE (host_cn_uuid IS NOT NULL);
CREATE INDEX instance_on_cn_in_order ON public.instance USING btree (host_cn_uuid, id) WHERE (host_cn_uuid IS NOT NULL);
CREATE INDEX job_due ON public.job USING btree (wake_at) WHERE (wake_at IS NOT NULL);
CREATE INDEX job_ended ON public.job USING btree (completed_at) WHERE (completed_at IS NOT NULL);
CREATE INDEX job_in_hand ON public.job USING btree (target_cn) WHERE (state = 'in_progress'::text);
CREATE INDEX job_of_cn ON public.job USING btree (target_cn, seq);
CREATE INDEX job_of_floating_ip ON public.job USING btree (((payload ->> 'floating_ip_id'::text))) WHERE (payload ? 'floating_ip_id'::text);
CREATE INDEX job_of_instance ON public.job USING btree (((payload ->> 'instance_id'::text)), seq) WHERE (payload ? 'instance_id'::text);
CREATE INDEX job_of_saga ON public.job USING btree (saga_id);
CREATE INDEX job_queue ON public.job USING btree (target_cn, seq) WHERE (state = 'pending'::text);
CREATE UNIQUE INDEX job_seq_once ON public.job USING btree (seq);
CREATE INDEX job_tombstone ON public.job USING btree (target_cn, seq) WHERE tombstone;
CREATE INDEX migration_of_instance ON public.migration USING btree (instance_id) WHERE (instance_id IS NOT NULL);
CREATE INDEX nat_gateway_by_address ON public.nat_gateway USING btree (public_address);
CREATE INDEX nat_gateway_of_vpc_in_order ON public.nat_gateway USING btree (vpc_id, id);
CREATE INDEX network_pool_of_network ON public.network_pool_network USING btree (network_id);
CREATE INDEX nic_by_ipv4 ON public.nic USING btree (primary_ipv4) WHERE (primary_ipv4 IS NOT NULL);
CREATE INDEX nic_by_ipv6 ON public.nic USING btree (primary_ipv6) WHERE (primary_ipv6 IS NOT NULL);
CREATE INDEX nic_in_subnet ON public.nic USING btree (subnet_id, id);
CREATE INDEX nic_of_project ON public.nic USING btree (project_id, id);
CREATE INDEX public_address_by_floating_ip ON public.public_address USING btree (floating_ip_id) WHERE (floating_ip_id IS NOT NULL);
CREATE INDEX public_address_by_nat_gateway ON public.public_address USING btree (nat_gateway_id) WHERE (nat_gateway_id IS NOT NULL);
CREATE INDEX route_in_table ON public.route USING btree (route_table_id, id);
CREATE INDEX route_in_vpc ON public.route USING btree (vpc_id);
CREATE INDEX route_to_nat_gateway ON public.route USING btree (nat_gateway_id) WHERE (nat_gateway_id IS NOT NULL);
CREATE INDEX route_table_in_vpc ON public.route_table USING btree (vpc_id, id);
CREATE UNIQUE INDEX route_table_one_main ON public.route_table USING btree (vpc_id) WHERE is_main;
CREATE INDEX saga_due ON public.saga USING btree (wake_at) WHERE (wake_at IS NOT NULL);
CREATE INDEX saga_newest ON public.saga USING btree (created_at DESC, id DESC);
CREATE INDEX saga_of_resource ON public.saga USING gin (refs jsonb_path_ops);
CREATE INDEX sealed_user_data_plain ON public.sealed_user_data USING btree (instance_id) WHERE (plain IS NOT NULL);
CREATE INDEX session_due ON public.session USING btree (wake_at) WHERE (wake_at IS NOT NULL);
CREATE INDEX session_of_user ON public.session USING btree (user_id);
CREATE INDEX ssh_key_of_project ON public.ssh_key USING btree (project_id) WHERE (project_id IS NOT NULL);
CREATE INDEX ssh_key_of_tenant ON public.ssh_key USING btree (tenant_id) WHERE (tenant_id IS NOT NULL);
CREATE INDEX ssh_key_of_user ON public.ssh_key USING btree (user_id) WHERE (user_id IS NOT NULL);
CREATE INDEX ssh_key_public ON public.ssh_key USING btree (id) WHERE (scope_kind = 'public'::text);
CREATE INDEX subnet_in_vpc ON public.subnet USING btree (vpc_id, id);
CREATE INDEX subnet_of_route_table ON public.subnet USING btree (route_table_id);
CREATE INDEX transition_audited ON public.transition USING btree (xid, id) WHERE (audit IS NOT NULL);
CREATE INDEX transition_of_approval ON public.transition USING btree (msg_id) WHERE (event = 'approve'::text);
CREATE UNIQUE INDEX user_local_name ON public.user_account USING btree (username) WHERE (issuer IS NULL);
CREATE UNIQUE INDEX user_of_issuer ON public.user_account USING btree (issuer, subject, tenant_id) NULLS NOT DISTINCT WHERE (issuer IS NOT NULL);
CREATE INDEX user_of_tenant ON public.user_account USING btree (tenant_id) WHERE (tenant_id IS NOT NULL);
CREATE INDEX vpc_of_project ON public.vpc USING btree (project_id, id);

CREATE TRIGGER job_number BEFORE INSERT ON public.job FOR EACH ROW EXECUTE FUNCTION job_number();
CREATE TRIGGER nic_mac BEFORE INSERT ON public.nic FOR EACH ROW WHEN ((new.mac IS NULL)) EXECUTE FUNCTION nic_mac();

create view cn_loaded as
 SELECT cn.server_uuid,
    cn.incarnation,
    cn.version,
    cn.wake_at,
    cn.state,
    cn.hostname,
    cn.role,
    cn.admin_ip,
    cn.sysinfo,
    cn.console_listen_port,
    cn.console_tls_spki_sha256_hex,
    cn.registered_at,
    cn.approved_at,
    cn.claim_code,
    cn.claim_code_expires_at,
    cn.registration_id,
    cn.poll_token_sha256,
    cn.bound_api_key_id,
    cn.pending_credential,
    cn.ticket_keys,
    cn.last_setup_error,
    cn.setup_progress,
    cn.disk_layout,
    cn.macs,
    cn.conflict,
    cn.setup_epoch,
    cn.setup_operation_id,
    cn.bundle_taken,
    cn.root_password_hash,
    cn.unproven,
    cn.announced_sysinfo,
    cn.announced_macs,
    cn.serial,
    s.last_seen,
    s.last_status,
    p.reservoir_enabled,
    p.reservoir_percent,
    COALESCE(p.traits, '{}'::jsonb) AS traits,
    jsonb_build_object('reserved', COALESCE(p.reserved, false), 'reserved_reason', p.reserved_reason, 'cordoned', COALESCE(p.cordoned, false), 'cordoned_reason', p.cordoned_reason, 'overprovision_cpu', p.overprovision_cpu, 'overprovision_ram', p.overprovision_ram, 'overprovision_disk', p.overprovision_disk, 'fault_domain', p.fault_domain, 'pinned_silo_uuid', p.pinned_silo_uuid, 'pinned_tenant_uuid', p.pinned_tenant_uuid, 'note', p.note) AS placement,
    ARRAY( SELECT r.mac
           FROM boot_record r
          WHERE (r.server_uuid = cn.server_uuid)
          ORDER BY r.mac) AS bound_macs,
    ( SELECT COALESCE(jsonb_agg(jsonb_build_object('id', k.id, 'claim_code', k.claim_code, 'expires_at', k.expires_at, 'hostname', k.hostname, 'admin_ip', host(k.admin_ip), 'serial', k.serial, 'macs', k.macs, 'source', k.source, 'registration_id', k.registration_id, 'poll_token_sha256', k.poll_token_sha256) ORDER BY k.expires_at, k.id), '[]'::jsonb) AS "coalesce"
           FROM enrolment_claim k
          WHERE ((k.server_uuid = cn.server_uuid) AND (k.expires_at > ( SELECT berth_now() AS berth_now)))) AS claims
   FROM ((cn
     LEFT JOIN cn_signal s USING (server_uuid))
     LEFT JOIN cn_placement p USING (server_uuid));

create view floating_ip_loaded as
 SELECT f.id,
    f.incarnation,
    f.version,
    f.wake_at,
    f.state,
    f.tenant_id,
    f.project_id,
    f.name,
    f.description,
    f.address,
    f.family,
    f.pool_id,
    f.network_id,
    f.external_nic_tag,
    f.attached_to,
    f.attached_instance_id,
    f.hosted_cn,
    f.created_at,
    f.updated_at,
    f.generation,
    f.operation_id,
    f.operation_kind,
    f.prior_nic_id,
    f.prior_instance_id,
    f.prior_cn,
    f.reclaimed_as,
    s.vlan_id
   FROM (floating_ip f
     LEFT JOIN external_subnet s ON ((s.id = f.network_id)));

create view instance_loaded as
 SELECT i.id,
    i.incarnation,
    i.version,
    i.wake_at,
    i.state,
    i.host_cn_uuid,
    i.image_id,
    i.tenant_id,
    i.project_id,
    i.name,
    i.description,
    i.brand,
    i.cpu,
    i.memory_bytes,
    i.primary_subnet_id,
    i.ssh_key_ids,
    i.reason,
    i.operation_id,
    i.operation_kind,
    i.job_begun,
    i.unwinding_as,
    i.floating_ip_ids,
    i.reported_at,
    i.missed_reports,
    i.created_at,
    i.updated_at,
    n.nics,
    d.disks,
    ( SELECT m.id
           FROM migration m
          WHERE ((m.instance_id = i.id) AND (m.state <> ALL (ARRAY['completed'::text, 'failed'::text, 'aborted'::text])))
         LIMIT 1) AS migration_id
   FROM instance i,
    LATERAL ( SELECT COALESCE(jsonb_agg(to_jsonb(nic.*) ORDER BY nic.ordinal), '[]'::jsonb) AS nics
           FROM nic
          WHERE (nic.instance_id = i.id)) n,
    LATERAL ( SELECT COALESCE(jsonb_agg(to_jsonb(disk.*) ORDER BY disk.kind, disk.id), '[]'::jsonb) AS disks
           FROM disk
          WHERE (disk.instance_id = i.id)) d;

create view instance_user_data as
 SELECT instance_id,
        CASE
            WHEN (sealed IS NULL) THEN plain
            ELSE user_data_is_sealed()
        END AS user_data
   FROM sealed_user_data;

create view job_loaded as
 SELECT j.id,
    j.incarnation,
    j.version,
    j.wake_at,
    j.state,
    j.seq,
    j.kind,
    j.target_cn,
    j.payload,
    j.saga_id,
    j.created_at,
    j.claimed_by,
    j.claimed_at,
    j.lease_until,
    j.result,
    j.reason,
    j.tombstone,
    j.completed_at,
    j.burial_told_as,
    j.lease_s,
    s.renewed_at,
    s.step,
    s.percent,
    s.progress_at
   FROM (job j
     LEFT JOIN job_signal s ON ((s.job_id = j.id)));

create view site_loaded as
 SELECT site.id,
    site.incarnation,
    site.version,
    site.wake_at,
    site.state,
    site.window_opened_at,
    site.window_expires_at,
    site.window_count,
    site.window_opened_by,
    b.remaining AS window_remaining
   FROM (site
     LEFT JOIN budget b ON ((b.name = 'auto-approve'::text)));

create view user_loaded as
 SELECT u.id,
    u.username,
    u.is_root,
    u.created_at,
    u.incarnation,
    u.version,
    u.wake_at,
    u.state,
    u.tenant_id,
    u.password_hash,
    u.capabilities,
    u.issuer,
    u.subject,
    u.session_epoch,
    t.silo_id
   FROM (user_account u
     LEFT JOIN tenant t ON ((t.id = u.tenant_id)));

grant delete, insert, select, update on table actor_kind to berth_app;
grant select on table actor_kind to berth_reader;
grant delete, insert, select, update on table api_key to berth_app;
grant select on table api_key to berth_reader;
grant delete, insert, select, update on table api_key_use to berth_app;
grant select on table api_key_use to berth_reader;
grant insert, select on table audit_event to berth_app;
grant select on table audit_event to berth_reader;
grant select, update on table audit_head to berth_app;
grant select on table audit_head to berth_reader;
grant delete, insert, select, update on table boot_policy to berth_app;
grant select on table boot_policy to berth_reader;
grant delete, insert, select, update on table boot_record to berth_app;
grant select on table boot_record to berth_reader;
grant delete, insert, select, update on table boot_roster to berth_app;
grant select on table boot_roster to berth_reader;
grant delete, insert, select, update on table budget to berth_app;
grant select on table budget to berth_reader;
grant delete, insert, select, update on table cn to berth_app;
grant select on table cn to berth_reader;
grant delete, insert, select, update on table cn_capacity to berth_app;
grant select on table cn_capacity to berth_reader;
grant delete, insert, select, update on table cn_load_hour to berth_app;
grant select on table cn_load_hour to berth_reader;
grant delete, insert, select, update on table cn_load_sample to berth_app;
grant select on table cn_load_sample to berth_reader;
grant delete, insert, select, update on table cn_load_summary to berth_app;
grant select on table cn_load_summary to berth_reader;
grant delete, insert, select, update on table cn_loaded to berth_app;
grant select on table cn_loaded to berth_reader;
grant delete, insert, select, update on table cn_nic_tag to berth_app;
grant select on table cn_nic_tag to berth_reader;
grant delete, insert, select, update on table cn_placement to berth_app;
grant select on table cn_placement to berth_reader;
grant delete, insert, select, update on table cn_signal to berth_app;
grant select on table cn_signal to berth_reader;
grant delete, insert, select, update on table cn_usage to berth_app;
grant select on table cn_usage to berth_reader;
grant delete, insert, select, update on table console_session to berth_app;
grant select on table console_session to berth_reader;
grant delete, insert, select, update on table denial_window to berth_app;
grant select on table denial_window to berth_reader;
grant delete, insert, select, update on table disk to berth_app;
grant select on table disk to berth_reader;
grant delete, insert, select, update on table enrolment_claim to berth_app;
grant select on table enrolment_claim to berth_reader;
grant delete, insert, select, update on table external_subnet to berth_app;
grant select on table external_subnet to berth_reader;
grant delete, insert, select, update on table failure_count to berth_app;
grant select on table failure_count to berth_reader;
grant delete, insert, select, update on table firewall_rule to berth_app;
grant select on table firewall_rule to berth_reader;
grant delete, insert, select, update on table floating_ip to berth_app;
grant select on table floating_ip to berth_reader;
grant delete, insert, select, update on table floating_ip_loaded to berth_app;
grant select on table floating_ip_loaded to berth_reader;
grant delete, insert, select, update on table idempotency to berth_app;
grant select on table idempotency to berth_reader;
grant delete, insert, select, update on table image to berth_app;
grant select on table image to berth_reader;
grant delete, insert, select, update on table image_upload to berth_app;
grant select on table image_upload to berth_reader;
grant delete, insert, select, update on table instance to berth_app;
grant select on table instance to berth_reader;
grant delete, insert, select, update on table instance_loaded to berth_app;
grant select on table instance_loaded to berth_reader;
grant delete, insert, select, update on table instance_user_data to berth_app;
grant select on table instance_user_data to berth_reader;
grant delete, insert, select, update on table job to berth_app;
grant select on table job to berth_reader;
grant delete, insert, select, update on table job_loaded to berth_app;
grant select on table job_loaded to berth_reader;
grant delete, insert, select, update on table job_signal to berth_app;
grant select on table job_signal to berth_reader;
grant delete, insert, select, update on table lab_clock to berth_app;
grant select on table lab_clock to berth_reader;
grant delete, insert, select, update on table load_pass to berth_app;
grant select on table load_pass to berth_reader;
grant delete, insert, select, update on table migration to berth_app;
grant select on table migration to berth_reader;
grant delete, insert, select, update on table nat_gateway to berth_app;
grant select on table nat_gateway to berth_reader;
grant delete, insert, select, update on table network_pool to berth_app;
grant select on table network_pool to berth_reader;
grant delete, insert, select, update on table network_pool_network to berth_app;
grant select on table network_pool_network to berth_reader;
grant delete, insert, select, update on table nic to berth_app;
grant select on table nic to berth_reader;
grant delete, insert, select, update on table nic_tag to berth_app;
grant select on table nic_tag to berth_reader;
grant delete, insert, select, update on table outbox to berth_app;
grant select on table outbox to berth_reader;
grant delete, insert, select, update on table placement_reservation to berth_app;
grant select on table placement_reservation to berth_reader;
grant delete, insert, select, update on table pool to berth_app;
grant select on table pool to berth_reader;
grant delete, insert, select, update on table pool_range to berth_app;
grant select on table pool_range to berth_reader;
grant delete, insert, select, update on table project to berth_app;
grant select on table project to berth_reader;
grant delete, insert, select, update on table project_usage to berth_app;
grant select on table project_usage to berth_reader;
grant delete, insert, select, update on table public_address to berth_app;
grant select on table public_address to berth_reader;
grant delete, insert, select, update on table quota to berth_app;
grant select on table quota to berth_reader;
grant delete, insert, select, update on table rate_bucket to berth_app;
grant select on table rate_bucket to berth_reader;
grant delete, insert, select, update on table route to berth_app;
grant select on table route to berth_reader;
grant delete, insert, select, update on table route_table to berth_app;
grant select on table route_table to berth_reader;
grant delete, insert, select, update on table saga to berth_app;
grant select on table saga to berth_reader;
grant select on table schema_function to berth_app;
grant select on table schema_function to berth_reader;
grant select on table schema_migration to berth_app;
grant select on table schema_migration to berth_reader;
grant delete, insert, select, update on table sealed_user_data to berth_app;
grant select on table sealed_user_data to berth_reader;
grant delete, insert, select, update on table seen to berth_app;
grant select on table seen to berth_reader;
grant delete, insert, select, update on table seen_other to berth_app;
grant select on table seen_other to berth_reader;
grant insert, select on table server_secret to berth_app;
grant delete, insert, select, update on table session to berth_app;
grant select on table session to berth_reader;
grant delete, insert, select, update on table setting to berth_app;
grant select on table setting to berth_reader;
grant delete, insert, select, update on table silo to berth_app;
grant select on table silo to berth_reader;
grant delete, insert, select, update on table site to berth_app;
grant select on table site to berth_reader;
grant delete, insert, select, update on table site_loaded to berth_app;
grant select on table site_loaded to berth_reader;
grant delete, insert, select, update on table ssh_key to berth_app;
grant select on table ssh_key to berth_reader;
grant delete, insert, select, update on table staging to berth_app;
grant select on table staging to berth_reader;
grant delete, insert, select, update on table subnet to berth_app;
grant select on table subnet to berth_reader;
grant delete, insert, select, update on table tenant to berth_app;
grant select on table tenant to berth_reader;
grant delete, insert, select, update on table tenant_idp to berth_app;
grant select on table tenant_idp to berth_reader;
grant delete, insert, select, update on table tenant_quota to berth_app;
grant select on table tenant_quota to berth_reader;
grant delete, insert, select, update on table tenant_usage to berth_app;
grant select on table tenant_usage to berth_reader;
grant insert, select on table transition to berth_app;
grant select on table transition to berth_reader;
grant delete, insert, select, update on table user_account to berth_app;
grant select on table user_account to berth_reader;
grant delete, insert, select, update on table user_loaded to berth_app;
grant select on table user_loaded to berth_reader;
grant delete, insert, select, update on table vpc to berth_app;
grant select on table vpc to berth_reader;
grant usage on sequence job_seq to berth_app;
grant usage on sequence setup_epoch to berth_app;
grant usage on sequence transition_id_seq to berth_app;
grant execute on function audit_denial(uuid,text,jsonb,jsonb) to berth_app;
grant execute on function berth_budget_allows(budget,bigint) to berth_app;
grant execute on function berth_claim_budget(text,bigint) to berth_app;
grant execute on function berth_columns(regclass,text[],text) to berth_app;
grant execute on function berth_conditions(jsonb) to berth_app;
grant execute on function berth_filled(text,jsonb) to berth_app;
grant execute on function berth_free_ranges(text,bigint,bigint) to berth_app;
grant execute on function berth_give_claims(text,bigint,bigint,bigint) to berth_app;
grant execute on function berth_load_since(uuid,timestamp with time zone,text) to berth_app;
grant execute on function berth_made_bytes(uuid) to berth_app;
grant execute on function berth_migration_ended(text) to berth_app;
grant execute on function berth_now() to berth_app;
grant execute on function berth_release(text,text) to berth_app;
grant execute on function berth_unmade_bytes(uuid) to berth_app;
grant execute on function close_denials(integer) to berth_app;
grant execute on function commit_units_1(jsonb,integer[],text[],text[],uuid[],bigint[],integer[],integer[],text[],text[],uuid[],bigint[],text[],text[],text[],uuid[],timestamp with time zone[],text[],integer[],integer[],uuid[],text[]) to berth_app;
grant execute on function count_denial(text,integer,uuid,text,jsonb) to berth_app;
grant execute on function denials_since(timestamp with time zone,bigint) to berth_app;
grant execute on function effect_claim_ended(jsonb) to berth_app;
grant execute on function effect_cn_use(jsonb) to berth_app;
grant execute on function effect_end_claims(jsonb) to berth_app;
grant execute on function effect_quota_use(jsonb) to berth_app;
grant execute on function effect_rebuild_admin_pool(jsonb) to berth_app;
grant execute on function effect_unproven_ended(jsonb) to berth_app;
grant execute on function effect_vpc_routes_gone(jsonb) to berth_app;
grant execute on function guard_boot_policy_is(jsonb) to berth_app;
grant execute on function guard_claims_are_counted(jsonb) to berth_app;
grant execute on function guard_cn_has_room(jsonb) to berth_app;
grant execute on function guard_cn_is_approved(jsonb) to berth_app;
grant execute on function guard_cn_is_live(jsonb) to berth_app;
grant execute on function guard_cn_offers_nic_tag(jsonb) to berth_app;
grant execute on function guard_disk_is_at_rest(jsonb) to berth_app;
grant execute on function guard_enrollment_pi_is_set(jsonb) to berth_app;
grant execute on function guard_enrollment_pi_is_staged(jsonb) to berth_app;
grant execute on function guard_enrolment_window_is_open(jsonb) to berth_app;
grant execute on function guard_external_network_is_offered(jsonb) to berth_app;
grant execute on function guard_external_subnet_is_apart(jsonb) to berth_app;
grant execute on function guard_external_subnet_is_unused(jsonb) to berth_app;
grant execute on function guard_external_subnets_exist(jsonb) to berth_app;
grant execute on function guard_floating_ip_is_off_nodes(jsonb) to berth_app;
grant execute on function guard_floating_ips_rest(jsonb) to berth_app;
grant execute on function guard_image_is_unused(jsonb) to berth_app;
grant execute on function guard_image_upload_fits(jsonb) to berth_app;
grant execute on function guard_instance_stays(jsonb) to berth_app;
grant execute on function guard_is_last_claim(jsonb) to berth_app;
grant execute on function guard_nat_gateway_is_unused(jsonb) to berth_app;
grant execute on function guard_nic_tag_exists(jsonb) to berth_app;
grant execute on function guard_nic_tag_is_unused(jsonb) to berth_app;
grant execute on function guard_no_active_cn(jsonb) to berth_app;
grant execute on function guard_no_instance_on_cn(jsonb) to berth_app;
grant execute on function guard_no_migration_of_cn(jsonb) to berth_app;
grant execute on function guard_no_reservation_on_cn(jsonb) to berth_app;
grant execute on function guard_node_has_room_for_claim(jsonb) to berth_app;
grant execute on function guard_pin_holds(jsonb) to berth_app;
grant execute on function guard_project_is_empty(jsonb) to berth_app;
grant execute on function guard_quota_has_room(jsonb) to berth_app;
grant execute on function guard_route_table_is_unused(jsonb) to berth_app;
grant execute on function guard_silos_exist(jsonb) to berth_app;
grant execute on function guard_status_is_last(jsonb) to berth_app;
grant execute on function guard_subnet_block_is_free(jsonb) to berth_app;
grant execute on function guard_subnet_is_empty(jsonb) to berth_app;
grant execute on function guard_tenant_is_empty(jsonb) to berth_app;
grant execute on function guard_tenant_is_no_default(jsonb) to berth_app;
grant execute on function guard_tenant_quota_has_room(jsonb) to berth_app;
grant execute on function guard_unproven_are_counted(jsonb) to berth_app;
grant execute on function guard_user_owns_no_key(jsonb) to berth_app;
grant execute on function guard_vni_is_free(jsonb) to berth_app;
grant execute on function guard_vpc_is_empty(jsonb) to berth_app;
grant execute on function job_number() to berth_app;
grant execute on function limits_of_project(uuid,jsonb) to berth_app;
grant execute on function limits_of_tenant(uuid,jsonb) to berth_app;
grant execute on function load_materialize(double precision) to berth_app;
grant execute on function nic_mac() to berth_app;
grant execute on function nodes_to_place(timestamp with time zone) to berth_app;
grant execute on function quota_broken(jsonb,jsonb,jsonb) to berth_app;
grant execute on function seen_bound(date) to berth_app;
grant execute on function seen_maintain(integer) to berth_app;
grant execute on function user_data_is_sealed() to berth_app;
grant execute on function within_limit(bigint,text,uuid,bigint,text) to berth_app;

insert into actor_kind values ('api-key', 'api_key', 'id', 'uuid');
insert into actor_kind values ('boot-policy', 'boot_policy', 'id', 'text');
insert into actor_kind values ('boot-record', 'boot_record', 'mac', 'text');
insert into actor_kind values ('boot-roster', 'boot_roster', 'id', 'text');
insert into actor_kind values ('cn', 'cn', 'server_uuid', 'uuid');
insert into actor_kind values ('console-session', 'console_session', 'id', 'uuid');
insert into actor_kind values ('enrolment-claim', 'enrolment_claim', 'id', 'uuid');
insert into actor_kind values ('external-subnet', 'external_subnet', 'id', 'uuid');
insert into actor_kind values ('firewall-rule', 'firewall_rule', 'id', 'uuid');
insert into actor_kind values ('floating-ip', 'floating_ip', 'id', 'uuid');
insert into actor_kind values ('idp', 'tenant_idp', 'tenant_id', 'uuid');
insert into actor_kind values ('image', 'image', 'id', 'uuid');
insert into actor_kind values ('image-upload', 'image_upload', 'id', 'uuid');
insert into actor_kind values ('instance', 'instance', 'id', 'uuid');
insert into actor_kind values ('job', 'job', 'id', 'uuid');
insert into actor_kind values ('nat-gateway', 'nat_gateway', 'id', 'uuid');
insert into actor_kind values ('network-pool', 'network_pool', 'id', 'uuid');
insert into actor_kind values ('nic-tag', 'nic_tag', 'id', 'uuid');
insert into actor_kind values ('project', 'project', 'id', 'uuid');
insert into actor_kind values ('quota', 'quota', 'project_id', 'uuid');
insert into actor_kind values ('route', 'route', 'id', 'uuid');
insert into actor_kind values ('route-table', 'route_table', 'id', 'uuid');
insert into actor_kind values ('saga', 'saga', 'id', 'uuid');
insert into actor_kind values ('session', 'session', 'id', 'uuid');
insert into actor_kind values ('setting', 'setting', 'key', 'text');
insert into actor_kind values ('silo', 'silo', 'id', 'uuid');
insert into actor_kind values ('site', 'site', 'id', 'text');
insert into actor_kind values ('ssh-key', 'ssh_key', 'id', 'uuid');
insert into actor_kind values ('staging', 'staging', 'staged_by', 'uuid');
insert into actor_kind values ('subnet', 'subnet', 'id', 'uuid');
insert into actor_kind values ('tenant', 'tenant', 'id', 'uuid');
insert into actor_kind values ('tenant-quota', 'tenant_quota', 'tenant_id', 'uuid');
insert into actor_kind values ('user', 'user_account', 'id', 'uuid');
insert into actor_kind values ('vpc', 'vpc', 'id', 'uuid');
