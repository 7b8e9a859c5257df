-- The schema of this build. Printed by `deno task schema`: do not edit. Partitions of single days are left out, and all
-- objects belong to the user that migrates.
set check_function_bodies = off;

create extension btree_gist;

create sequence job_seq as bigint;
create sequence setup_epoch as bigint;

CREATE OR REPLACE FUNCTION public.audit_archive(first bigint, last bigint, digest text, key text, signature text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  before  audit_segment;
  texts   text;
  amount  bigint;
  broken  bigint;
  before_hash text := repeat('0', 64);
  end_hash    text;
begin
  perform pg_advisory_xact_lock(hashtextextended('berth:audit_chain', 0));
  select * into before from audit_segment order by number desc limit 1;
  if found then before_hash := before.last_hash; end if;
  if first <> coalesce(before.last_seq, -1) + 1 or last < first or last >= (select seq from audit_head) then
    raise exception 'the archive cannot continue with the audit events % to %', first, last;
  end if;
  select count(*), string_agg(canonical || e'\n', '' order by seq),
         count(*) filter (where hash <> encode(sha256(convert_to(canonical, 'UTF8')), 'hex')
                             or prev_hash <> coalesce(before_in_order, before_hash)),
         (array_agg(hash order by seq desc))[1]
    into amount, texts, broken, end_hash
    from (select *, lag(hash) over (order by seq) as before_in_order from audit_event
           where seq between first and last) e;
  if amount <> last - first + 1 or broken > 0 then
    raise exception 'the audit events % to % do not verify; run opsctl audit verify', first, last;
  end if;
  insert into audit_segment (number, first_seq, last_seq, prev_hash, last_hash, sha256, public_key, signature, content)
    values (coalesce(before.number, -1) + 1, first, last, before_hash, end_hash, digest, key, audit_archive.signature,
            convert_to(texts, 'UTF8'));
  if not exists (select from audit_segment s where s.first_seq = first and encode(sha256(s.content), 'hex') = digest) then
    raise exception 'the archived audit events % to % do not have the digest %', first, last, digest;
  end if;
  update transition set audit = null
   where id in (select transition_id from audit_event where seq between first and last);
  delete from audit_event where seq between first and last;
end $function$;

CREATE OR REPLACE FUNCTION public.audit_denial(of_msg uuid, of_request text, of_audit jsonb, sum jsonb)
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into transition (actor_kind, actor_id, incarnation, seq, event, from_state, to_state, msg_id, at, audit)
  values ('request', of_request, of_msg, 1, 'deny', 'none', 'denied', of_msg, berth_now(),
          case when sum is null then of_audit
               else jsonb_set(of_audit, '{payload}', coalesce(of_audit->'payload', '{}') || sum) end)
  on conflict on constraint transition_one_writer do nothing $function$;

CREATE OR REPLACE FUNCTION public.berth_absent(text, text[], text[], uuid[], bigint[], text, text, text)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
declare
  places bigint[];
begin
  case $1
  when 'api-key' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from api_key t where t.id = w.id);
  when 'boot-policy' then
    with wanted as materialized (
      select a.n, a.id::text as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from boot_policy t where t.id = w.id);
  when 'boot-record' then
    with wanted as materialized (
      select a.n, a.id::text as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from boot_record t where t.mac = w.id);
  when 'boot-roster' then
    with wanted as materialized (
      select a.n, a.id::text as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from boot_roster t where t.id = w.id);
  when 'cn' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from cn t where t.server_uuid = w.id);
  when 'console-session' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from console_session t where t.id = w.id);
  when 'enrolment-claim' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from enrolment_claim t where t.id = w.id);
  when 'external-subnet' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from external_subnet t where t.id = w.id);
  when 'firewall-rule' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from firewall_rule t where t.id = w.id);
  when 'floating-ip' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from floating_ip t where t.id = w.id);
  when 'idp' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from tenant_idp t where t.tenant_id = w.id);
  when 'image' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from image t where t.id = w.id);
  when 'image-upload' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from image_upload t where t.id = w.id);
  when 'instance' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from instance t where t.id = w.id);
  when 'job' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from job t where t.id = w.id);
  when 'nat-gateway' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from nat_gateway t where t.id = w.id);
  when 'network-pool' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from network_pool t where t.id = w.id);
  when 'nic-tag' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from nic_tag t where t.id = w.id);
  when 'placement-group' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from placement_group t where t.id = w.id);
  when 'port-forward' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from port_forward t where t.id = w.id);
  when 'project' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from project t where t.id = w.id);
  when 'quota' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from quota t where t.project_id = w.id);
  when 'route' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from route t where t.id = w.id);
  when 'route-table' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from route_table t where t.id = w.id);
  when 'saga' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from saga t where t.id = w.id);
  when 'session' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from session t where t.id = w.id);
  when 'setting' then
    with wanted as materialized (
      select a.n, a.id::text as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from setting t where t.key = w.id);
  when 'silo' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from silo t where t.id = w.id);
  when 'site' then
    with wanted as materialized (
      select a.n, a.id::text as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from site t where t.id = w.id);
  when 'ssh-key' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from ssh_key t where t.id = w.id);
  when 'staging' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from staging t where t.staged_by = w.id);
  when 'subnet' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from subnet t where t.id = w.id);
  when 'tenant' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from tenant t where t.id = w.id);
  when 'tenant-quota' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from tenant_quota t where t.tenant_id = w.id);
  when 'user' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from user_account t where t.id = w.id);
  when 'vpc' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from vpc t where t.id = w.id);
  when 'webhook' then
    with wanted as materialized (
      select a.n, a.id::uuid as id
        from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
    select array_agg(w.n) into places from wanted w where not exists (select from webhook t where t.id = w.id);
  else
    execute berth_statement('absent', $6, array[$7], $8) into places using $1, $2, $3, $4, $5;
  end case;
  return places;
end $function$;

CREATE OR REPLACE FUNCTION public.berth_claim_budget(of_name text, room bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  -- Locks the row. If another call has just deleted the row, the loop creates it again.
  loop
    perform from budget where name = of_name for update;
    exit when found;
    insert into budget (name, remaining) values (of_name, greatest(0, room)) on conflict do nothing;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.berth_columns(of_table regclass, given text[], alias text)
 RETURNS text
 LANGUAGE plpgsql
 STABLE STRICT
AS $function$
begin
  return (
    select string_agg(alias || quote_ident(attname), ', ' order by attnum) from pg_attribute
     where attrelid = of_table and attname = any(given) and attnum > 0 and not attisdropped and attgenerated = '');
end $function$;

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
        verdict := berth_guard(each->>'name', each->'args');
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
          join pool p on p.id = r.pool_id order by r.high limit 1;
        if not found then
          -- An earlier allocation of this unit took the last value.
          raise exception using errcode = 'check_violation', constraint = 'pool_exhausted';
        end if;
        taken := greatest(spot.low, (each->>'low')::bigint);
        if taken < spot.high then
          update pool_range set low = taken + 1 where pool_id = each->>'pool' and high = spot.high;
        else
          delete from pool_range where pool_id = each->>'pool' and high = spot.high;
        end if;
        if spot.low < taken then
          insert into pool_range (pool_id, low, high) values (each->>'pool', spot.low, taken - 1);
        end if;
        value := case when spot.base is null then taken::text else host(spot.base + taken) end;
        values := values || jsonb_build_object(each->>'token', value);
      when 'effect' then
        perform berth_effect(each->>'name', each->'args');
      when 'release' then
        perform berth_release(each->>'pool', each->>'value');
      else null;
    end case;
  end loop;
  return jsonb_build_object('values', values);
end $function$;

CREATE OR REPLACE FUNCTION public.berth_delete(jsonb, integer[], text[], text, text[], text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  case $4
  when 'api_key' then
    delete from api_key t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'boot_policy' then
    delete from boot_policy t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::text;
  when 'boot_record' then
    delete from boot_record t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.mac = (e->>'$id')::text;
  when 'boot_roster' then
    delete from boot_roster t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::text;
  when 'cn' then
    delete from cn t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.server_uuid = (e->>'$id')::uuid;
  when 'console_session' then
    delete from console_session t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'enrolment_claim' then
    delete from enrolment_claim t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'external_subnet' then
    delete from external_subnet t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'firewall_rule' then
    delete from firewall_rule t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'floating_ip' then
    delete from floating_ip t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'tenant_idp' then
    delete from tenant_idp t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.tenant_id = (e->>'$id')::uuid;
  when 'image' then
    delete from image t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'image_upload' then
    delete from image_upload t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'instance' then
    delete from instance t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'job' then
    delete from job t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'nat_gateway' then
    delete from nat_gateway t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'network_pool' then
    delete from network_pool t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'nic_tag' then
    delete from nic_tag t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'placement_group' then
    delete from placement_group t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'port_forward' then
    delete from port_forward t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'project' then
    delete from project t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'quota' then
    delete from quota t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.project_id = (e->>'$id')::uuid;
  when 'route' then
    delete from route t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'route_table' then
    delete from route_table t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'saga' then
    delete from saga t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'session' then
    delete from session t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'setting' then
    delete from setting t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.key = (e->>'$id')::text;
  when 'silo' then
    delete from silo t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'site' then
    delete from site t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::text;
  when 'ssh_key' then
    delete from ssh_key t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'staging' then
    delete from staging t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.staged_by = (e->>'$id')::uuid;
  when 'subnet' then
    delete from subnet t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'tenant' then
    delete from tenant t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'tenant_quota' then
    delete from tenant_quota t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.tenant_id = (e->>'$id')::uuid;
  when 'user_account' then
    delete from user_account t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'vpc' then
    delete from vpc t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'webhook' then
    delete from webhook t using jsonb_array_elements($1) e
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  else
    execute berth_statement('delete', $4, $5, $6) using $1, $2, $3;
  end case;
end $function$;

CREATE OR REPLACE FUNCTION public.berth_effect(text, jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  case $1
  when 'claim_ended' then perform effect_claim_ended($2);
  when 'cn_network_changed' then perform effect_cn_network_changed($2);
  when 'cn_use' then perform effect_cn_use($2);
  when 'end_claims' then perform effect_end_claims($2);
  when 'external_network_changed' then perform effect_external_network_changed($2);
  when 'nics_changed' then perform effect_nics_changed($2);
  when 'quota_use' then perform effect_quota_use($2);
  when 'rebuild_admin_pool' then perform effect_rebuild_admin_pool($2);
  when 'unproven_ended' then perform effect_unproven_ended($2);
  when 'vpc_routes_gone' then perform effect_vpc_routes_gone($2);
  when 'webhook_queued' then perform effect_webhook_queued($2);
  when 'webhook_redelivered' then perform effect_webhook_redelivered($2);
  else
    execute format('select %I($1)', 'effect_' || $1) using $2;
  end case;
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

CREATE OR REPLACE FUNCTION public.berth_filled_entries(entries jsonb, choice integer[], allocated jsonb[])
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(jsonb_agg(berth_filled_entry(e, allocated[(e->>'$u')::int + 1])), '[]')
    from jsonb_array_elements(entries) e where choice[(e->>'$u')::int + 1] = (e->>'$c')::int $function$;

CREATE OR REPLACE FUNCTION public.berth_filled_entry(entry jsonb, given jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  content text;
  filled  text;
begin
  if given is null then return entry; end if;
  content := entry::text;
  filled := berth_replaced(content, given);
  return case when filled = content then entry else filled::jsonb end;
end $function$;

CREATE OR REPLACE FUNCTION public.berth_filled_writes(writes jsonb, choice integer[], allocated jsonb[])
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(jsonb_agg(
    case when w ? 'entries' then jsonb_set(w, '{entries}', coalesce((
           select jsonb_agg(berth_filled_entry(e, allocated[(e->>'$u')::int + 1]))
             from jsonb_array_elements(w->'entries') e where choice[(e->>'$u')::int + 1] = (e->>'$c')::int), '[]'))
         else berth_filled_entry(w, allocated[(w->>'u')::int + 1]) end), '[]')
    from jsonb_array_elements(writes) w
   where w ? 'entries' or choice[(w->>'u')::int + 1] = (w->>'c')::int $function$;

CREATE OR REPLACE FUNCTION public.berth_firewall_tag(of_vpc uuid)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select md5(coalesce(string_agg(id || ' ' || version, ',' order by id), '')) from firewall_rule where vpc_id = of_vpc $function$;

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

CREATE OR REPLACE FUNCTION public.berth_guard(text, jsonb)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  verdict text;
begin
  case $1
  when 'boot_policy_is' then return guard_boot_policy_is($2)::text;
  when 'claims_are_counted' then return guard_claims_are_counted($2)::text;
  when 'cn_has_room' then return guard_cn_has_room($2)::text;
  when 'cn_is_approved' then return guard_cn_is_approved($2)::text;
  when 'cn_is_live' then return guard_cn_is_live($2)::text;
  when 'cn_is_not_draining' then return guard_cn_is_not_draining($2)::text;
  when 'cn_is_not_upgrading' then return guard_cn_is_not_upgrading($2)::text;
  when 'cn_is_silent' then return guard_cn_is_silent($2)::text;
  when 'cn_may_host_gateway' then return guard_cn_may_host_gateway($2)::text;
  when 'cn_offers_nic_tag' then return guard_cn_offers_nic_tag($2)::text;
  when 'cn_sends_fewer' then return guard_cn_sends_fewer($2)::text;
  when 'disk_is_at_rest' then return guard_disk_is_at_rest($2)::text;
  when 'enrollment_pi_is_set' then return guard_enrollment_pi_is_set($2)::text;
  when 'enrollment_pi_is_staged' then return guard_enrollment_pi_is_staged($2)::text;
  when 'enrolment_window_is_open' then return guard_enrolment_window_is_open($2)::text;
  when 'external_network_is_offered' then return guard_external_network_is_offered($2)::text;
  when 'external_subnet_is_apart' then return guard_external_subnet_is_apart($2)::text;
  when 'external_subnet_is_off_nodes' then return guard_external_subnet_is_off_nodes($2)::text;
  when 'external_subnet_is_unused' then return guard_external_subnet_is_unused($2)::text;
  when 'external_subnets_exist' then return guard_external_subnets_exist($2)::text;
  when 'firewall_rules_are' then return guard_firewall_rules_are($2)::text;
  when 'floating_ip_is_off_nodes' then return guard_floating_ip_is_off_nodes($2)::text;
  when 'floating_ip_is_released' then return guard_floating_ip_is_released($2)::text;
  when 'floating_ips_rest' then return guard_floating_ips_rest($2)::text;
  when 'image_exists' then return guard_image_exists($2)::text;
  when 'image_is_unused' then return guard_image_is_unused($2)::text;
  when 'image_upload_fits' then return guard_image_upload_fits($2)::text;
  when 'instance_stays' then return guard_instance_stays($2)::text;
  when 'is_last_claim' then return guard_is_last_claim($2)::text;
  when 'nat_gateway_has_no_forward' then return guard_nat_gateway_has_no_forward($2)::text;
  when 'nat_gateway_has_room' then return guard_nat_gateway_has_room($2)::text;
  when 'nat_gateway_is_unused' then return guard_nat_gateway_is_unused($2)::text;
  when 'nic_blocks_are_apart' then return guard_nic_blocks_are_apart($2)::text;
  when 'nic_is_unused' then return guard_nic_is_unused($2)::text;
  when 'nic_tag_exists' then return guard_nic_tag_exists($2)::text;
  when 'nic_tag_is_unused' then return guard_nic_tag_is_unused($2)::text;
  when 'no_active_cn' then return guard_no_active_cn($2)::text;
  when 'no_instance_on_cn' then return guard_no_instance_on_cn($2)::text;
  when 'no_migration_of_cn' then return guard_no_migration_of_cn($2)::text;
  when 'no_reservation_on_cn' then return guard_no_reservation_on_cn($2)::text;
  when 'node_has_room_for_claim' then return guard_node_has_room_for_claim($2)::text;
  when 'operation_runs' then return guard_operation_runs($2)::text;
  when 'pin_holds' then return guard_pin_holds($2)::text;
  when 'placement_group_allows' then return guard_placement_group_allows($2)::text;
  when 'placement_group_is_empty' then return guard_placement_group_is_empty($2)::text;
  when 'project_has_webhook_room' then return guard_project_has_webhook_room($2)::text;
  when 'project_is_empty' then return guard_project_is_empty($2)::text;
  when 'quota_has_room' then return guard_quota_has_room($2)::text;
  when 'route_table_is_unused' then return guard_route_table_is_unused($2)::text;
  when 'silo_is_empty' then return guard_silo_is_empty($2)::text;
  when 'silo_is_not_named' then return guard_silo_is_not_named($2)::text;
  when 'silos_exist' then return guard_silos_exist($2)::text;
  when 'status_is_last' then return guard_status_is_last($2)::text;
  when 'subnet_block_is_free' then return guard_subnet_block_is_free($2)::text;
  when 'subnet_is_empty' then return guard_subnet_is_empty($2)::text;
  when 'tenant_is_empty' then return guard_tenant_is_empty($2)::text;
  when 'tenant_is_no_default' then return guard_tenant_is_no_default($2)::text;
  when 'tenant_quota_has_room' then return guard_tenant_quota_has_room($2)::text;
  when 'unproven_are_counted' then return guard_unproven_are_counted($2)::text;
  when 'user_owns_no_key' then return guard_user_owns_no_key($2)::text;
  when 'vni_is_free' then return guard_vni_is_free($2)::text;
  when 'vpc_is_empty' then return guard_vpc_is_empty($2)::text;
  when 'webhook_delivery_exists' then return guard_webhook_delivery_exists($2)::text;
  else
    execute format('select %I($1)::text', 'guard_' || $1) into verdict using $2;
    return verdict;
  end case;
end $function$;

CREATE OR REPLACE FUNCTION public.berth_held(text, text[], text[], uuid[], bigint[], text, text, text)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
declare
  places bigint[];
begin
  case $1
  when 'api-key' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join api_key t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'boot-policy' then
    with wanted as materialized (
      select a.n, a.id::text as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join boot_policy t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'boot-record' then
    with wanted as materialized (
      select a.n, a.id::text as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join boot_record t on t.mac = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'boot-roster' then
    with wanted as materialized (
      select a.n, a.id::text as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join boot_roster t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'cn' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join cn t on t.server_uuid = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'console-session' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join console_session t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'enrolment-claim' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join enrolment_claim t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'external-subnet' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join external_subnet t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'firewall-rule' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join firewall_rule t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'floating-ip' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join floating_ip t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'idp' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join tenant_idp t on t.tenant_id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'image' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join image t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'image-upload' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join image_upload t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'instance' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join instance t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'job' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join job t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'nat-gateway' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join nat_gateway t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'network-pool' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join network_pool t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'nic-tag' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join nic_tag t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'placement-group' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join placement_group t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'port-forward' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join port_forward t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'project' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join project t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'quota' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join quota t on t.project_id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'route' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join route t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'route-table' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join route_table t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'saga' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join saga t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'session' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join session t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'setting' then
    with wanted as materialized (
      select a.n, a.id::text as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join setting t on t.key = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'silo' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join silo t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'site' then
    with wanted as materialized (
      select a.n, a.id::text as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join site t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'ssh-key' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join ssh_key t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'staging' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join staging t on t.staged_by = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'subnet' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join subnet t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'tenant' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join tenant t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'tenant-quota' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join tenant_quota t on t.tenant_id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'user' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join user_account t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'vpc' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join vpc t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  when 'webhook' then
    with wanted as materialized (
      select a.n, a.id::uuid as id, a.incarnation, a.version
        from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
       where a.kind = $1 and a.version > 0)
    select array_agg(h.n) into places from (
      select w.n from wanted w join webhook t on t.id = w.id
       where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h;
  else
    execute berth_statement('held', $6, array[$7], $8) into places using $1, $2, $3, $4, $5;
  end case;
  return places;
end $function$;

CREATE OR REPLACE FUNCTION public.berth_insert(jsonb, integer[], text[], text, text[], text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  case $4
  when 'api_key' then
    insert into api_key (id, incarnation, version, wake_at, state, lookup, secret_sha256, user_id, description,
        scope, bound_to_cn, created_at, expires_at, tenant_id)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.lookup, r.secret_sha256, r.user_id, r.description,
        r.scope, r.bound_to_cn, r.created_at, r.expires_at, r.tenant_id
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::api_key, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'boot_policy' then
    insert into boot_policy (id, incarnation, version, wake_at, state, auto_enroll, allowlist, enrollment_pi,
        enrollment_kernel_args, admin_network, updated_at, rack_networks, label_arguments)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.auto_enroll, r.allowlist, r.enrollment_pi,
        r.enrollment_kernel_args, r.admin_network, r.updated_at,
        case when e ? 'rack_networks' then r.rack_networks else '[]'::jsonb end,
        case when e ? 'label_arguments' then r.label_arguments else '[]'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::boot_policy, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'boot_record' then
    insert into boot_record (mac, incarnation, version, wake_at, state, address, networking, provenance,
        server_uuid, assigned_pi, rescue, hostname, created_at, updated_at, kernel_args, console)
    select r.mac, r.incarnation, r.version, r.wake_at, r.state, r.address, r.networking, r.provenance,
        r.server_uuid, r.assigned_pi, r.rescue, r.hostname, r.created_at, r.updated_at,
        case when e ? 'kernel_args' then r.kernel_args else '[]'::jsonb end, r.console
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::boot_record, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'boot_roster' then
    insert into boot_roster (id, incarnation, version, wake_at, state, entries, updated_at)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.entries, r.updated_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::boot_roster, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'cn' then
    insert into cn (server_uuid, incarnation, version, wake_at, state, hostname, role, admin_ip, sysinfo,
        console_listen_port, console_tls_spki_sha256_hex, registered_at, approved_at, claim_code,
        claim_code_expires_at, registration_id, poll_token_sha256, bound_api_key_id, pending_credential,
        ticket_keys, last_setup_error, setup_progress, disk_layout, macs, conflict, setup_epoch,
        setup_operation_id, bundle_taken, root_password_hash, unproven, announced_sysinfo, announced_macs, serial,
        underlay_address, underlay_mtu, underlay_address_set, underlay_mtu_set, setup_delivery)
    select r.server_uuid, r.incarnation, r.version, r.wake_at, r.state, r.hostname, r.role, r.admin_ip, r.sysinfo,
        r.console_listen_port, r.console_tls_spki_sha256_hex, r.registered_at, r.approved_at, r.claim_code,
        r.claim_code_expires_at, r.registration_id, r.poll_token_sha256, r.bound_api_key_id, r.pending_credential,
        r.ticket_keys, r.last_setup_error, r.setup_progress, r.disk_layout,
        case when e ? 'macs' then r.macs else '{}'::text[] end, r.conflict, r.setup_epoch, r.setup_operation_id,
        case when e ? 'bundle_taken' then r.bundle_taken else false end, r.root_password_hash,
        case when e ? 'unproven' then r.unproven else false end, r.announced_sysinfo,
        case when e ? 'announced_macs' then r.announced_macs else '{}'::text[] end, r.serial, r.underlay_address,
        r.underlay_mtu, r.underlay_address_set, r.underlay_mtu_set, r.setup_delivery
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::cn, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'console_session' then
    insert into console_session (id, incarnation, version, wake_at, state, instance_id, cn, mode, take_over,
        history_bytes, user_id, username, key_id, login_id, credential_expires_at, is_root, ticket_sha256,
        relay_url, created_at, expires_at)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.instance_id, r.cn, r.mode, r.take_over,
        r.history_bytes, r.user_id, r.username, r.key_id, r.login_id, r.credential_expires_at, r.is_root,
        r.ticket_sha256, r.relay_url, r.created_at, r.expires_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::console_session, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'enrolment_claim' then
    insert into enrolment_claim (id, incarnation, version, wake_at, state, server_uuid, claim_code, expires_at,
        registration_id, poll_token_sha256, hostname, admin_ip, sysinfo, macs, serial, console_listen_port,
        console_tls_spki_sha256_hex, source, source_bucket, created_at, underlay_address, underlay_mtu)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.server_uuid, r.claim_code, r.expires_at,
        r.registration_id, r.poll_token_sha256, r.hostname, r.admin_ip, r.sysinfo, r.macs, r.serial,
        r.console_listen_port, r.console_tls_spki_sha256_hex, r.source, r.source_bucket, r.created_at,
        r.underlay_address, r.underlay_mtu
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::enrolment_claim, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'external_subnet' then
    insert into external_subnet (id, incarnation, version, wake_at, state, name, description, nic_tag, vlan_id,
        ipv4_block, ipv6_block, provision_start_ipv4, provision_end_ipv4, provision_start_ipv6, provision_end_ipv6,
        owner_silos, created_at, gateway_ipv4, gateway_ipv6)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.name, r.description, r.nic_tag, r.vlan_id,
        r.ipv4_block, r.ipv6_block, r.provision_start_ipv4, r.provision_end_ipv4, r.provision_start_ipv6,
        r.provision_end_ipv6, r.owner_silos, r.created_at, r.gateway_ipv4, r.gateway_ipv6
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::external_subnet, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'firewall_rule' then
    insert into firewall_rule (id, incarnation, version, wake_at, state, tenant_id, project_id, vpc_id, name,
        description, priority, direction, action, protocol, source_cidr, destination_cidr, source_ports,
        destination_ports, icmp_type_code, created_at, labels)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.vpc_id, r.name,
        r.description, r.priority, r.direction, r.action, r.protocol, r.source_cidr, r.destination_cidr,
        r.source_ports, r.destination_ports, r.icmp_type_code, r.created_at,
        case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::firewall_rule, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'floating_ip' then
    insert into floating_ip (id, incarnation, version, wake_at, state, tenant_id, project_id, name, description,
        address, family, pool_id, network_id, external_nic_tag, attached_to, attached_instance_id, hosted_cn,
        created_at, updated_at, generation, operation_id, operation_kind, prior_nic_id, prior_instance_id,
        prior_cn, reclaimed_as, labels)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.name, r.description,
        r.address, r.family, r.pool_id, r.network_id, r.external_nic_tag, r.attached_to, r.attached_instance_id,
        r.hosted_cn, r.created_at, r.updated_at, case when e ? 'generation' then r.generation else 0 end,
        r.operation_id, r.operation_kind, r.prior_nic_id, r.prior_instance_id, r.prior_cn, r.reclaimed_as,
        case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::floating_ip, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'tenant_idp' then
    insert into tenant_idp (tenant_id, incarnation, version, wake_at, state, issuer_url, client_id, client_secret,
        audience, created_at)
    select r.tenant_id, r.incarnation, r.version, r.wake_at, r.state, r.issuer_url, r.client_id, r.client_secret,
        r.audience, r.created_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::tenant_idp, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'image' then
    insert into image (id, incarnation, version, wake_at, state, scope_kind, silo_id, tenant_id, project_id, name,
        description, os, os_version, size_bytes, sha256, source_url, compatibility, created_at, content_bytes,
        labels)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.scope_kind, r.silo_id, r.tenant_id, r.project_id,
        r.name, r.description, r.os, r.os_version, r.size_bytes, r.sha256, r.source_url, r.compatibility,
        r.created_at, r.content_bytes, case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::image, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'image_upload' then
    insert into image_upload (id, incarnation, version, wake_at, state, tenant_id, project_id, name, description,
        os, os_version, compatibility, content_bytes, size_bytes, received_bytes, created_at, expires_at, labels,
        operation_id, sha256)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.name, r.description,
        r.os, r.os_version, r.compatibility, r.content_bytes, r.size_bytes, r.received_bytes, r.created_at,
        r.expires_at, case when e ? 'labels' then r.labels else '{}'::jsonb end, r.operation_id, r.sha256
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::image_upload, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'instance' then
    insert into instance (id, incarnation, version, wake_at, state, host_cn_uuid, image_id, tenant_id, project_id,
        name, description, brand, cpu, memory_bytes, primary_subnet_id, ssh_key_ids, reason, operation_id,
        operation_kind, job_begun, unwinding_as, floating_ip_ids, reported_at, missed_reports, created_at,
        updated_at, labels, deletion_protection, placement_group_id)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.host_cn_uuid, r.image_id, r.tenant_id,
        r.project_id, r.name, r.description, r.brand, r.cpu, r.memory_bytes, r.primary_subnet_id, r.ssh_key_ids,
        r.reason, r.operation_id, r.operation_kind, case when e ? 'job_begun' then r.job_begun else false end,
        r.unwinding_as, case when e ? 'floating_ip_ids' then r.floating_ip_ids else '{}'::uuid[] end,
        r.reported_at, case when e ? 'missed_reports' then r.missed_reports else 0 end, r.created_at, r.updated_at,
        case when e ? 'labels' then r.labels else '{}'::jsonb end,
        case when e ? 'deletion_protection' then r.deletion_protection else false end, r.placement_group_id
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::instance, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'job' then
    insert into job (id, incarnation, version, wake_at, state, seq, kind, target_cn, payload, saga_id, created_at,
        claimed_by, claimed_at, lease_until, result, reason, tombstone, completed_at, burial_told_as, lease_s)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.seq, r.kind, r.target_cn, r.payload, r.saga_id,
        r.created_at, r.claimed_by, r.claimed_at, r.lease_until, r.result, r.reason, r.tombstone, r.completed_at,
        r.burial_told_as, r.lease_s
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::job, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'nat_gateway' then
    insert into nat_gateway (id, incarnation, version, wake_at, state, tenant_id, project_id, vpc_id, name,
        description, family, public_address, desired_generation, created_at, updated_at, host_cn_uuid,
        leaving_cn_uuid, left_at, labels, network_id, external_nic_tag, pool_id)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.vpc_id, r.name,
        r.description, r.family, r.public_address, r.desired_generation, r.created_at, r.updated_at,
        r.host_cn_uuid, r.leaving_cn_uuid, r.left_at, case when e ? 'labels' then r.labels else '{}'::jsonb end,
        r.network_id, r.external_nic_tag, r.pool_id
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::nat_gateway, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'network_pool' then
    insert into network_pool (id, incarnation, version, wake_at, state, name, description, networks, owner_silos,
        created_at)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.name, r.description, r.networks, r.owner_silos,
        r.created_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::network_pool, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'nic_tag' then
    insert into nic_tag (id, incarnation, version, wake_at, state, name, description, mtu, created_at)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.name, r.description, r.mtu, r.created_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::nic_tag, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'placement_group' then
    insert into placement_group (id, incarnation, version, wake_at, state, tenant_id, project_id, name,
        description, labels, policy, level, strictness, created_at)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.name, r.description,
        case when e ? 'labels' then r.labels else '{}'::jsonb end, r.policy, r.level, r.strictness, r.created_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::placement_group, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'port_forward' then
    insert into port_forward (id, incarnation, version, wake_at, state, tenant_id, project_id, vpc_id,
        nat_gateway_id, nic_id, name, description, protocol, public_port, nic_port, created_at, labels)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.vpc_id,
        r.nat_gateway_id, r.nic_id, r.name, r.description, r.protocol, r.public_port, r.nic_port, r.created_at,
        case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::port_forward, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'project' then
    insert into project (id, incarnation, version, wake_at, state, tenant_id, name, description, created_at, labels)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.name, r.description, r.created_at,
        case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::project, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'quota' then
    insert into quota (project_id, incarnation, version, wake_at, state, tenant_id, cpu_limit, memory_bytes,
        disk_bytes, instance_limit, updated_at)
    select r.project_id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.cpu_limit, r.memory_bytes,
        r.disk_bytes, r.instance_limit, r.updated_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::quota, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'route' then
    insert into route (id, incarnation, version, wake_at, state, tenant_id, project_id, vpc_id, route_table_id,
        name, description, destination, target_kind, nat_gateway_id, created_at, labels)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.vpc_id,
        r.route_table_id, r.name, r.description, r.destination, r.target_kind, r.nat_gateway_id, r.created_at,
        case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::route, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'route_table' then
    insert into route_table (id, incarnation, version, wake_at, state, tenant_id, project_id, vpc_id, name,
        description, is_main, created_at, labels)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.vpc_id, r.name,
        r.description, r.is_main, r.created_at, case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::route_table, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'saga' then
    insert into saga (id, incarnation, version, wake_at, state, saga, params, refs, outputs, steps, early, error,
        created_at, step, job_id, attempts, due_at, done_at, stuck_reason)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.saga, r.params, r.refs, r.outputs, r.steps,
        r.early, r.error, r.created_at, r.step, r.job_id, r.attempts, r.due_at, r.done_at, r.stuck_reason
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::saga, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'session' then
    insert into session (id, incarnation, version, wake_at, state, user_id, user_epoch, generation, created_at,
        refreshed_at, expires_at, kind, api_key_id, granted_root, granted_scope)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.user_id, r.user_epoch, r.generation, r.created_at,
        r.refreshed_at, r.expires_at, case when e ? 'kind' then r.kind else 'token'::text end, r.api_key_id,
        case when e ? 'granted_root' then r.granted_root else false end, r.granted_scope
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::session, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'setting' then
    insert into setting (key, incarnation, version, wake_at, state, value, updated_at)
    select r.key, r.incarnation, r.version, r.wake_at, r.state, r.value, r.updated_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::setting, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'silo' then
    insert into silo (id, incarnation, version, wake_at, state, name, description, default_tenant_id, created_at)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.name, r.description, r.default_tenant_id,
        r.created_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::silo, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'site' then
    insert into site (id, incarnation, version, wake_at, state, window_opened_at, window_expires_at, window_count,
        window_opened_by)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.window_opened_at, r.window_expires_at,
        r.window_count, r.window_opened_by
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::site, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'ssh_key' then
    insert into ssh_key (id, incarnation, version, wake_at, state, scope_kind, silo_id, tenant_id, project_id,
        user_id, name, description, public_key, fingerprint, created_at, labels)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.scope_kind, r.silo_id, r.tenant_id, r.project_id,
        r.user_id, r.name, r.description, r.public_key, r.fingerprint, r.created_at,
        case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::ssh_key, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'staging' then
    insert into staging (staged_by, incarnation, version, wake_at, state, stamps, staged_at, kinds)
    select r.staged_by, r.incarnation, r.version, r.wake_at, r.state, r.stamps, r.staged_at,
        case when e ? 'kinds' then r.kinds else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::staging, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'subnet' then
    insert into subnet (id, incarnation, version, wake_at, state, tenant_id, project_id, vpc_id, route_table_id,
        name, description, ipv4_block, ipv6_block, vpc_ipv4_block, vpc_ipv6_block, created_at, labels)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.vpc_id,
        r.route_table_id, r.name, r.description, r.ipv4_block, r.ipv6_block, r.vpc_ipv4_block, r.vpc_ipv6_block,
        r.created_at, case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::subnet, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'tenant' then
    insert into tenant (id, incarnation, version, wake_at, state, silo_id, name, description, created_at)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.silo_id, r.name, r.description, r.created_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::tenant, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'tenant_quota' then
    insert into tenant_quota (tenant_id, incarnation, version, wake_at, state, cpu_limit, memory_bytes, disk_bytes,
        instance_limit, updated_at)
    select r.tenant_id, r.incarnation, r.version, r.wake_at, r.state, r.cpu_limit, r.memory_bytes, r.disk_bytes,
        r.instance_limit, r.updated_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::tenant_quota, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'user_account' then
    insert into user_account (id, username, is_root, created_at, incarnation, version, wake_at, state, tenant_id,
        password_hash, capabilities, issuer, subject, session_epoch)
    select r.id, r.username, case when e ? 'is_root' then r.is_root else false end,
        case when e ? 'created_at' then r.created_at else berth_now() end,
        case when e ? 'incarnation' then r.incarnation else gen_random_uuid() end,
        case when e ? 'version' then r.version else 1 end, r.wake_at,
        case when e ? 'state' then r.state else 'live'::text end, r.tenant_id, r.password_hash,
        case when e ? 'capabilities' then r.capabilities else '{}'::text[] end, r.issuer, r.subject,
        case when e ? 'session_epoch' then r.session_epoch else 0 end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::user_account, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'vpc' then
    insert into vpc (id, incarnation, version, wake_at, state, tenant_id, project_id, main_route_table_id, name,
        description, vni, ipv4_block, ipv6_block, created_at, labels)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.main_route_table_id,
        r.name, r.description, r.vni, r.ipv4_block, r.ipv6_block, r.created_at,
        case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::vpc, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'webhook' then
    insert into webhook (id, incarnation, version, wake_at, state, tenant_id, project_id, name, description,
        labels, url, events, enabled, sealed_secret, created_at, enabled_at, disabled_at)
    select r.id, r.incarnation, r.version, r.wake_at, r.state, r.tenant_id, r.project_id, r.name, r.description,
        case when e ? 'labels' then r.labels else '{}'::jsonb end, r.url, r.events, r.enabled, r.sealed_secret,
        r.created_at, r.enabled_at, r.disabled_at
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::webhook, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'disk' then
    insert into disk (id, tenant_id, project_id, instance_id, name, description, kind, size_bytes, applied_bytes,
        source_image_id, created_at, resize_operation_id, attached, source_disk_id, consistency, labels)
    select r.id, r.tenant_id, r.project_id, r.instance_id, r.name, r.description, r.kind, r.size_bytes,
        r.applied_bytes, r.source_image_id, r.created_at, r.resize_operation_id,
        case when e ? 'attached' then r.attached else true end, r.source_disk_id, r.consistency,
        case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::disk, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'nic' then
    insert into nic (id, tenant_id, project_id, instance_id, vpc_id, subnet_id, ordinal, name, mac, primary_ipv4,
        primary_ipv6, created_at, additional_ips, allowed_cidrs, labels)
    select r.id, r.tenant_id, r.project_id, r.instance_id, r.vpc_id, r.subnet_id, r.ordinal, r.name, r.mac,
        r.primary_ipv4, r.primary_ipv6, r.created_at,
        case when e ? 'additional_ips' then r.additional_ips else '{}'::inet[] end,
        case when e ? 'allowed_cidrs' then r.allowed_cidrs else '{}'::cidr[] end,
        case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::nic, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'sealed_user_data' then
    insert into sealed_user_data (instance_id, plain, sealed)
    select r.instance_id, r.plain, r.sealed
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::sealed_user_data, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  when 'vpc_change' then
    insert into vpc_change (vpc_id, xid, at)
    select r.vpc_id, case when e ? 'xid' then r.xid else pg_current_xact_id() end,
        case when e ? 'at' then r.at else clock_timestamp() end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::vpc_change, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int;
  else
    execute berth_statement('insert', $4, $5, $6) using $1, $2, $3;
  end case;
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
    from instance i join disk d on d.instance_id = i.id
   where i.host_cn_uuid = of_cn and not exists (
     select from migration g where g.instance_id = i.id and g.target_cn = of_cn and not berth_migration_ended(g.state)) $function$;

CREATE OR REPLACE FUNCTION public.berth_migration_ended(of_state text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select of_state in ('completed', 'failed', 'aborted') $function$;

CREATE OR REPLACE FUNCTION public.berth_named(names text[])
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case
    when cardinality(names) = 0 then null
    when cardinality(names) = 1 then names[1]
    when cardinality(names) > 5 then array_to_string(names[1:5], ', ') || ' and others'
    else array_to_string(names[1:cardinality(names) - 1], ', ') || ' and ' || names[cardinality(names)] end $function$;

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
  next   record;
begin
  if of_pool like 'public:%' then
    select p.id into of_pool from pool p where p.network >>= value::inet;
    if not found then return; end if;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('pool:' || of_pool, 0));
  select p.base into strict base from pool p where p.id = of_pool;
  spot := case when base is null then value::bigint else value::inet - base end;
  select low, high into next from pool_range where pool_id = of_pool and high >= spot order by high limit 1;
  if next.low <= spot then
    raise exception using errcode = 'check_violation', constraint = 'pool_value_free_already';
  end if;
  delete from pool_range where pool_id = of_pool and high = spot - 1 returning low into low_of;
  if next.low = spot + 1 then
    update pool_range set low = coalesce(low_of, spot) where pool_id = of_pool and high = next.high;
  else
    insert into pool_range (pool_id, low, high) values (of_pool, coalesce(low_of, spot), spot);
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.berth_remove(jsonb, integer[], text[], text, text[], text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  case $4 || ' ' || $5::text
  when 'disk {instance_id}' then
    delete from disk t using jsonb_array_elements($1) e cross join jsonb_populate_record(null::disk, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.instance_id = r.instance_id;
  when 'nic {instance_id}' then
    delete from nic t using jsonb_array_elements($1) e cross join jsonb_populate_record(null::nic, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.instance_id = r.instance_id;
  when 'sealed_user_data {instance_id}' then
    delete from sealed_user_data t using jsonb_array_elements($1) e cross join jsonb_populate_record(null::sealed_user_data,
        e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.instance_id = r.instance_id;
  else
    execute berth_statement('remove', $4, $5, $6) using $1, $2, $3;
  end case;
end $function$;

CREATE OR REPLACE FUNCTION public.berth_replaced(content text, given jsonb)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  if given is null then return content; end if;
  for place in 0 .. jsonb_array_length(given) - 1 loop
    content := replace(content, given->place->>0, given->place->>1);
  end loop;
  return content;
end $function$;

CREATE OR REPLACE FUNCTION public.berth_statement(op text, of_table text, keys text[], key_type text)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  chosen  constant text := $q$$2[(e->>'$u')::int + 1] = (e->>'$c')::int$q$;
  source  constant text := format('jsonb_array_elements($1) e cross join jsonb_populate_record(null::%I, e) r', of_table);
  by_id   constant text := format('t.%s = (e->>''$id'')::%s', quote_ident(keys[1]), key_type);
  columns text;
  given   text;
  changed text;
  kept    text;
begin
  select string_agg(quote_ident(attname), ', ' order by attnum),
         string_agg(case when d.adbin is null then format('r.%I', attname)
                         else format('case when e ? %1$L then r.%1$I else %2$s end', attname, pg_get_expr(d.adbin, d.adrelid))
                    end, ', ' order by attnum),
         string_agg(format('%1$I = case when e ? %1$L then r.%1$I else t.%1$I end', attname), ', ' order by attnum)
           filter (where attname <> all(keys)),
         string_agg(format('%1$I = case when %1$L = any($3) then excluded.%1$I else t.%1$I end', attname), ', ' order by attnum)
           filter (where attname <> all(keys))
    into columns, given, changed, kept
    from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
   where attrelid = of_table::regclass and attnum > 0 and not attisdropped and attgenerated = '' and attidentity = '';
  case op
    when 'held' then
      return format($q$with wanted as materialized (
  select a.n, a.id::%3$s as id, a.incarnation, a.version
    from unnest($2, $3, $4, $5) with ordinality a(kind, id, incarnation, version, n)
   where a.kind = $1 and a.version > 0)
select array_agg(h.n) from (
  select w.n from wanted w join %1$I t on t.%2$I = w.id
   where t.version = w.version and t.incarnation = w.incarnation for update of t skip locked) h$q$, of_table, keys[1], key_type);
    when 'absent' then
      return format($q$with wanted as materialized (
  select a.n, a.id::%3$s as id
    from unnest($2, $3, $5) with ordinality a(kind, id, version, n) where a.kind = $1 and a.version = 0)
select array_agg(w.n) from wanted w where not exists (select from %1$I t where t.%2$I = w.id)$q$, of_table, keys[1], key_type);
    when 'insert' then
      return format(E'insert into %I (%s)\nselect %s\n  from %s\n where %s', of_table, columns, given, source, chosen);
    when 'update' then
      return format(E'update %I t set %s\n  from %s\n where %s and %s', of_table, changed, source, chosen, by_id);
    when 'delete' then
      return format(E'delete from %I t using jsonb_array_elements($1) e\n where %s and %s', of_table, chosen, by_id);
    when 'upsert' then
      return format(E'insert into %I as t (%s)\nselect %s\n  from %s\n where %s\n    on conflict (%s) do update set %s', of_table,
        columns, given, source, chosen, (select string_agg(quote_ident(k), ', ') from unnest(keys) k), kept);
    when 'remove' then
      return format(E'delete from %I t using %s\n where %s and %s', of_table, source, chosen,
        (select string_agg(format('t.%1$I = r.%1$I', k), ' and ') from unnest(keys) k));
  end case;
end $function$;

CREATE OR REPLACE FUNCTION public.berth_unmade_bytes(of_cn uuid)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(sum(d.size_bytes - case when i.evacuates then 0 else least(coalesce(d.applied_bytes, 0), d.size_bytes)
                                     end), 0)::bigint
    from (select id, exists (select from migration g where g.instance_id = instance.id and g.target_cn = of_cn
                                and not berth_migration_ended(g.state)) as evacuates
            from instance where host_cn_uuid = of_cn) i join disk d on d.instance_id = i.id $function$;

CREATE OR REPLACE FUNCTION public.berth_unproven_releases(of_floating_ip uuid)
 RETURNS SETOF uuid
 LANGUAGE sql
 STABLE
AS $function$
  select j.target_cn from job j
   where j.payload ? 'floating_ip_id' and j.payload->>'floating_ip_id' = of_floating_ip::text
     and j.kind = 'fip_release' and j.state = 'failed'
     -- Leaves out a job if a later release by this node, for the same NIC, succeeded.
     and not exists (
       select from job k
        where k.payload ? 'floating_ip_id' and k.payload->>'floating_ip_id' = of_floating_ip::text
          and k.kind = 'fip_release' and k.state = 'completed' and k.seq > j.seq
          and k.target_cn = j.target_cn and k.payload->>'nic_id' = j.payload->>'nic_id')
     and exists (
       select from vpc_realization r
         left join vpc v on v.id = r.vpc_id
         left join ended_vpc e on e.vpc_id = r.vpc_id
         left join nic n on n.id = (j.payload->>'nic_id')::uuid
        where r.server_uuid = j.target_cn
          and coalesce(r.vpc_id = coalesce((j.payload->>'vpc_id')::uuid, n.vpc_id),
                       coalesce(v.project_id, e.project_id) =
                       (select project_id from floating_ip where id = of_floating_ip), true)
          and (r.applied_until >= j.completed_at) is not true
          -- Reports that release 0.1.0 stored have no applied_until, so generations are compared: the applied one with
          -- the VPC's generation at the end of the job. If maintenance has deleted later rows of vpc_change, the second
          -- one is too high, and the node is listed although it may have applied a newer document.
          and coalesce(r.applied_generation, -1) < berth_vpc_generation(r.vpc_id) - (
            select count(*) from vpc_change c where c.vpc_id = r.vpc_id and c.at > j.completed_at)) $function$;

CREATE OR REPLACE FUNCTION public.berth_update(jsonb, integer[], text[], text, text[], text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  case $4
  when 'api_key' then
    update api_key t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        lookup = case when e ? 'lookup' then r.lookup else t.lookup end,
        secret_sha256 = case when e ? 'secret_sha256' then r.secret_sha256 else t.secret_sha256 end,
        user_id = case when e ? 'user_id' then r.user_id else t.user_id end,
        description = case when e ? 'description' then r.description else t.description end,
        scope = case when e ? 'scope' then r.scope else t.scope end,
        bound_to_cn = case when e ? 'bound_to_cn' then r.bound_to_cn else t.bound_to_cn end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        expires_at = case when e ? 'expires_at' then r.expires_at else t.expires_at end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::api_key, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'boot_policy' then
    update boot_policy t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        auto_enroll = case when e ? 'auto_enroll' then r.auto_enroll else t.auto_enroll end,
        allowlist = case when e ? 'allowlist' then r.allowlist else t.allowlist end,
        enrollment_pi = case when e ? 'enrollment_pi' then r.enrollment_pi else t.enrollment_pi end,
        enrollment_kernel_args = case when e ? 'enrollment_kernel_args' then r.enrollment_kernel_args else t.enrollment_kernel_args end,
        admin_network = case when e ? 'admin_network' then r.admin_network else t.admin_network end,
        updated_at = case when e ? 'updated_at' then r.updated_at else t.updated_at end,
        rack_networks = case when e ? 'rack_networks' then r.rack_networks else t.rack_networks end,
        label_arguments = case when e ? 'label_arguments' then r.label_arguments else t.label_arguments end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::boot_policy, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::text;
  when 'boot_record' then
    update boot_record t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        address = case when e ? 'address' then r.address else t.address end,
        networking = case when e ? 'networking' then r.networking else t.networking end,
        provenance = case when e ? 'provenance' then r.provenance else t.provenance end,
        server_uuid = case when e ? 'server_uuid' then r.server_uuid else t.server_uuid end,
        assigned_pi = case when e ? 'assigned_pi' then r.assigned_pi else t.assigned_pi end,
        rescue = case when e ? 'rescue' then r.rescue else t.rescue end,
        hostname = case when e ? 'hostname' then r.hostname else t.hostname end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        updated_at = case when e ? 'updated_at' then r.updated_at else t.updated_at end,
        kernel_args = case when e ? 'kernel_args' then r.kernel_args else t.kernel_args end,
        console = case when e ? 'console' then r.console else t.console end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::boot_record, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.mac = (e->>'$id')::text;
  when 'boot_roster' then
    update boot_roster t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        entries = case when e ? 'entries' then r.entries else t.entries end,
        updated_at = case when e ? 'updated_at' then r.updated_at else t.updated_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::boot_roster, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::text;
  when 'cn' then
    update cn t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        hostname = case when e ? 'hostname' then r.hostname else t.hostname end,
        role = case when e ? 'role' then r.role else t.role end,
        admin_ip = case when e ? 'admin_ip' then r.admin_ip else t.admin_ip end,
        sysinfo = case when e ? 'sysinfo' then r.sysinfo else t.sysinfo end,
        console_listen_port = case when e ? 'console_listen_port' then r.console_listen_port else t.console_listen_port end,
        console_tls_spki_sha256_hex = case when e ? 'console_tls_spki_sha256_hex' then r.console_tls_spki_sha256_hex else t.console_tls_spki_sha256_hex end,
        registered_at = case when e ? 'registered_at' then r.registered_at else t.registered_at end,
        approved_at = case when e ? 'approved_at' then r.approved_at else t.approved_at end,
        claim_code = case when e ? 'claim_code' then r.claim_code else t.claim_code end,
        claim_code_expires_at = case when e ? 'claim_code_expires_at' then r.claim_code_expires_at else t.claim_code_expires_at end,
        registration_id = case when e ? 'registration_id' then r.registration_id else t.registration_id end,
        poll_token_sha256 = case when e ? 'poll_token_sha256' then r.poll_token_sha256 else t.poll_token_sha256 end,
        bound_api_key_id = case when e ? 'bound_api_key_id' then r.bound_api_key_id else t.bound_api_key_id end,
        pending_credential = case when e ? 'pending_credential' then r.pending_credential else t.pending_credential end,
        ticket_keys = case when e ? 'ticket_keys' then r.ticket_keys else t.ticket_keys end,
        last_setup_error = case when e ? 'last_setup_error' then r.last_setup_error else t.last_setup_error end,
        setup_progress = case when e ? 'setup_progress' then r.setup_progress else t.setup_progress end,
        disk_layout = case when e ? 'disk_layout' then r.disk_layout else t.disk_layout end,
        macs = case when e ? 'macs' then r.macs else t.macs end,
        conflict = case when e ? 'conflict' then r.conflict else t.conflict end,
        setup_epoch = case when e ? 'setup_epoch' then r.setup_epoch else t.setup_epoch end,
        setup_operation_id = case when e ? 'setup_operation_id' then r.setup_operation_id else t.setup_operation_id end,
        bundle_taken = case when e ? 'bundle_taken' then r.bundle_taken else t.bundle_taken end,
        root_password_hash = case when e ? 'root_password_hash' then r.root_password_hash else t.root_password_hash end,
        unproven = case when e ? 'unproven' then r.unproven else t.unproven end,
        announced_sysinfo = case when e ? 'announced_sysinfo' then r.announced_sysinfo else t.announced_sysinfo end,
        announced_macs = case when e ? 'announced_macs' then r.announced_macs else t.announced_macs end,
        serial = case when e ? 'serial' then r.serial else t.serial end,
        underlay_address = case when e ? 'underlay_address' then r.underlay_address else t.underlay_address end,
        underlay_mtu = case when e ? 'underlay_mtu' then r.underlay_mtu else t.underlay_mtu end,
        underlay_address_set = case when e ? 'underlay_address_set' then r.underlay_address_set else t.underlay_address_set end,
        underlay_mtu_set = case when e ? 'underlay_mtu_set' then r.underlay_mtu_set else t.underlay_mtu_set end,
        setup_delivery = case when e ? 'setup_delivery' then r.setup_delivery else t.setup_delivery end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::cn, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.server_uuid = (e->>'$id')::uuid;
  when 'console_session' then
    update console_session t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        instance_id = case when e ? 'instance_id' then r.instance_id else t.instance_id end,
        cn = case when e ? 'cn' then r.cn else t.cn end, mode = case when e ? 'mode' then r.mode else t.mode end,
        take_over = case when e ? 'take_over' then r.take_over else t.take_over end,
        history_bytes = case when e ? 'history_bytes' then r.history_bytes else t.history_bytes end,
        user_id = case when e ? 'user_id' then r.user_id else t.user_id end,
        username = case when e ? 'username' then r.username else t.username end,
        key_id = case when e ? 'key_id' then r.key_id else t.key_id end,
        login_id = case when e ? 'login_id' then r.login_id else t.login_id end,
        credential_expires_at = case when e ? 'credential_expires_at' then r.credential_expires_at else t.credential_expires_at end,
        is_root = case when e ? 'is_root' then r.is_root else t.is_root end,
        ticket_sha256 = case when e ? 'ticket_sha256' then r.ticket_sha256 else t.ticket_sha256 end,
        relay_url = case when e ? 'relay_url' then r.relay_url else t.relay_url end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        expires_at = case when e ? 'expires_at' then r.expires_at else t.expires_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::console_session, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'enrolment_claim' then
    update enrolment_claim t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        server_uuid = case when e ? 'server_uuid' then r.server_uuid else t.server_uuid end,
        claim_code = case when e ? 'claim_code' then r.claim_code else t.claim_code end,
        expires_at = case when e ? 'expires_at' then r.expires_at else t.expires_at end,
        registration_id = case when e ? 'registration_id' then r.registration_id else t.registration_id end,
        poll_token_sha256 = case when e ? 'poll_token_sha256' then r.poll_token_sha256 else t.poll_token_sha256 end,
        hostname = case when e ? 'hostname' then r.hostname else t.hostname end,
        admin_ip = case when e ? 'admin_ip' then r.admin_ip else t.admin_ip end,
        sysinfo = case when e ? 'sysinfo' then r.sysinfo else t.sysinfo end,
        macs = case when e ? 'macs' then r.macs else t.macs end,
        serial = case when e ? 'serial' then r.serial else t.serial end,
        console_listen_port = case when e ? 'console_listen_port' then r.console_listen_port else t.console_listen_port end,
        console_tls_spki_sha256_hex = case when e ? 'console_tls_spki_sha256_hex' then r.console_tls_spki_sha256_hex else t.console_tls_spki_sha256_hex end,
        source = case when e ? 'source' then r.source else t.source end,
        source_bucket = case when e ? 'source_bucket' then r.source_bucket else t.source_bucket end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        underlay_address = case when e ? 'underlay_address' then r.underlay_address else t.underlay_address end,
        underlay_mtu = case when e ? 'underlay_mtu' then r.underlay_mtu else t.underlay_mtu end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::enrolment_claim, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'external_subnet' then
    update external_subnet t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        nic_tag = case when e ? 'nic_tag' then r.nic_tag else t.nic_tag end,
        vlan_id = case when e ? 'vlan_id' then r.vlan_id else t.vlan_id end,
        ipv4_block = case when e ? 'ipv4_block' then r.ipv4_block else t.ipv4_block end,
        ipv6_block = case when e ? 'ipv6_block' then r.ipv6_block else t.ipv6_block end,
        provision_start_ipv4 = case when e ? 'provision_start_ipv4' then r.provision_start_ipv4 else t.provision_start_ipv4 end,
        provision_end_ipv4 = case when e ? 'provision_end_ipv4' then r.provision_end_ipv4 else t.provision_end_ipv4 end,
        provision_start_ipv6 = case when e ? 'provision_start_ipv6' then r.provision_start_ipv6 else t.provision_start_ipv6 end,
        provision_end_ipv6 = case when e ? 'provision_end_ipv6' then r.provision_end_ipv6 else t.provision_end_ipv6 end,
        owner_silos = case when e ? 'owner_silos' then r.owner_silos else t.owner_silos end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        gateway_ipv4 = case when e ? 'gateway_ipv4' then r.gateway_ipv4 else t.gateway_ipv4 end,
        gateway_ipv6 = case when e ? 'gateway_ipv6' then r.gateway_ipv6 else t.gateway_ipv6 end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::external_subnet, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'firewall_rule' then
    update firewall_rule t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        vpc_id = case when e ? 'vpc_id' then r.vpc_id else t.vpc_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        priority = case when e ? 'priority' then r.priority else t.priority end,
        direction = case when e ? 'direction' then r.direction else t.direction end,
        action = case when e ? 'action' then r.action else t.action end,
        protocol = case when e ? 'protocol' then r.protocol else t.protocol end,
        source_cidr = case when e ? 'source_cidr' then r.source_cidr else t.source_cidr end,
        destination_cidr = case when e ? 'destination_cidr' then r.destination_cidr else t.destination_cidr end,
        source_ports = case when e ? 'source_ports' then r.source_ports else t.source_ports end,
        destination_ports = case when e ? 'destination_ports' then r.destination_ports else t.destination_ports end,
        icmp_type_code = case when e ? 'icmp_type_code' then r.icmp_type_code else t.icmp_type_code end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::firewall_rule, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'floating_ip' then
    update floating_ip t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        address = case when e ? 'address' then r.address else t.address end,
        family = case when e ? 'family' then r.family else t.family end,
        pool_id = case when e ? 'pool_id' then r.pool_id else t.pool_id end,
        network_id = case when e ? 'network_id' then r.network_id else t.network_id end,
        external_nic_tag = case when e ? 'external_nic_tag' then r.external_nic_tag else t.external_nic_tag end,
        attached_to = case when e ? 'attached_to' then r.attached_to else t.attached_to end,
        attached_instance_id = case when e ? 'attached_instance_id' then r.attached_instance_id else t.attached_instance_id end,
        hosted_cn = case when e ? 'hosted_cn' then r.hosted_cn else t.hosted_cn end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        updated_at = case when e ? 'updated_at' then r.updated_at else t.updated_at end,
        generation = case when e ? 'generation' then r.generation else t.generation end,
        operation_id = case when e ? 'operation_id' then r.operation_id else t.operation_id end,
        operation_kind = case when e ? 'operation_kind' then r.operation_kind else t.operation_kind end,
        prior_nic_id = case when e ? 'prior_nic_id' then r.prior_nic_id else t.prior_nic_id end,
        prior_instance_id = case when e ? 'prior_instance_id' then r.prior_instance_id else t.prior_instance_id end,
        prior_cn = case when e ? 'prior_cn' then r.prior_cn else t.prior_cn end,
        reclaimed_as = case when e ? 'reclaimed_as' then r.reclaimed_as else t.reclaimed_as end,
        labels = case when e ? 'labels' then r.labels else t.labels end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::floating_ip, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'tenant_idp' then
    update tenant_idp t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        issuer_url = case when e ? 'issuer_url' then r.issuer_url else t.issuer_url end,
        client_id = case when e ? 'client_id' then r.client_id else t.client_id end,
        client_secret = case when e ? 'client_secret' then r.client_secret else t.client_secret end,
        audience = case when e ? 'audience' then r.audience else t.audience end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::tenant_idp, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.tenant_id = (e->>'$id')::uuid;
  when 'image' then
    update image t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        scope_kind = case when e ? 'scope_kind' then r.scope_kind else t.scope_kind end,
        silo_id = case when e ? 'silo_id' then r.silo_id else t.silo_id end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        os = case when e ? 'os' then r.os else t.os end,
        os_version = case when e ? 'os_version' then r.os_version else t.os_version end,
        size_bytes = case when e ? 'size_bytes' then r.size_bytes else t.size_bytes end,
        sha256 = case when e ? 'sha256' then r.sha256 else t.sha256 end,
        source_url = case when e ? 'source_url' then r.source_url else t.source_url end,
        compatibility = case when e ? 'compatibility' then r.compatibility else t.compatibility end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        content_bytes = case when e ? 'content_bytes' then r.content_bytes else t.content_bytes end,
        labels = case when e ? 'labels' then r.labels else t.labels end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::image, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'image_upload' then
    update image_upload t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        os = case when e ? 'os' then r.os else t.os end,
        os_version = case when e ? 'os_version' then r.os_version else t.os_version end,
        compatibility = case when e ? 'compatibility' then r.compatibility else t.compatibility end,
        content_bytes = case when e ? 'content_bytes' then r.content_bytes else t.content_bytes end,
        size_bytes = case when e ? 'size_bytes' then r.size_bytes else t.size_bytes end,
        received_bytes = case when e ? 'received_bytes' then r.received_bytes else t.received_bytes end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        expires_at = case when e ? 'expires_at' then r.expires_at else t.expires_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end,
        operation_id = case when e ? 'operation_id' then r.operation_id else t.operation_id end,
        sha256 = case when e ? 'sha256' then r.sha256 else t.sha256 end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::image_upload, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'instance' then
    update instance t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        host_cn_uuid = case when e ? 'host_cn_uuid' then r.host_cn_uuid else t.host_cn_uuid end,
        image_id = case when e ? 'image_id' then r.image_id else t.image_id end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        brand = case when e ? 'brand' then r.brand else t.brand end,
        cpu = case when e ? 'cpu' then r.cpu else t.cpu end,
        memory_bytes = case when e ? 'memory_bytes' then r.memory_bytes else t.memory_bytes end,
        primary_subnet_id = case when e ? 'primary_subnet_id' then r.primary_subnet_id else t.primary_subnet_id end,
        ssh_key_ids = case when e ? 'ssh_key_ids' then r.ssh_key_ids else t.ssh_key_ids end,
        reason = case when e ? 'reason' then r.reason else t.reason end,
        operation_id = case when e ? 'operation_id' then r.operation_id else t.operation_id end,
        operation_kind = case when e ? 'operation_kind' then r.operation_kind else t.operation_kind end,
        job_begun = case when e ? 'job_begun' then r.job_begun else t.job_begun end,
        unwinding_as = case when e ? 'unwinding_as' then r.unwinding_as else t.unwinding_as end,
        floating_ip_ids = case when e ? 'floating_ip_ids' then r.floating_ip_ids else t.floating_ip_ids end,
        reported_at = case when e ? 'reported_at' then r.reported_at else t.reported_at end,
        missed_reports = case when e ? 'missed_reports' then r.missed_reports else t.missed_reports end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        updated_at = case when e ? 'updated_at' then r.updated_at else t.updated_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end,
        deletion_protection = case when e ? 'deletion_protection' then r.deletion_protection else t.deletion_protection end,
        placement_group_id = case when e ? 'placement_group_id' then r.placement_group_id else t.placement_group_id end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::instance, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'job' then
    update job t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        seq = case when e ? 'seq' then r.seq else t.seq end,
        kind = case when e ? 'kind' then r.kind else t.kind end,
        target_cn = case when e ? 'target_cn' then r.target_cn else t.target_cn end,
        payload = case when e ? 'payload' then r.payload else t.payload end,
        saga_id = case when e ? 'saga_id' then r.saga_id else t.saga_id end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        claimed_by = case when e ? 'claimed_by' then r.claimed_by else t.claimed_by end,
        claimed_at = case when e ? 'claimed_at' then r.claimed_at else t.claimed_at end,
        lease_until = case when e ? 'lease_until' then r.lease_until else t.lease_until end,
        result = case when e ? 'result' then r.result else t.result end,
        reason = case when e ? 'reason' then r.reason else t.reason end,
        tombstone = case when e ? 'tombstone' then r.tombstone else t.tombstone end,
        completed_at = case when e ? 'completed_at' then r.completed_at else t.completed_at end,
        burial_told_as = case when e ? 'burial_told_as' then r.burial_told_as else t.burial_told_as end,
        lease_s = case when e ? 'lease_s' then r.lease_s else t.lease_s end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::job, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'nat_gateway' then
    update nat_gateway t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        vpc_id = case when e ? 'vpc_id' then r.vpc_id else t.vpc_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        family = case when e ? 'family' then r.family else t.family end,
        public_address = case when e ? 'public_address' then r.public_address else t.public_address end,
        desired_generation = case when e ? 'desired_generation' then r.desired_generation else t.desired_generation end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        updated_at = case when e ? 'updated_at' then r.updated_at else t.updated_at end,
        host_cn_uuid = case when e ? 'host_cn_uuid' then r.host_cn_uuid else t.host_cn_uuid end,
        leaving_cn_uuid = case when e ? 'leaving_cn_uuid' then r.leaving_cn_uuid else t.leaving_cn_uuid end,
        left_at = case when e ? 'left_at' then r.left_at else t.left_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end,
        network_id = case when e ? 'network_id' then r.network_id else t.network_id end,
        external_nic_tag = case when e ? 'external_nic_tag' then r.external_nic_tag else t.external_nic_tag end,
        pool_id = case when e ? 'pool_id' then r.pool_id else t.pool_id end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::nat_gateway, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'network_pool' then
    update network_pool t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        networks = case when e ? 'networks' then r.networks else t.networks end,
        owner_silos = case when e ? 'owner_silos' then r.owner_silos else t.owner_silos end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::network_pool, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'nic_tag' then
    update nic_tag t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        mtu = case when e ? 'mtu' then r.mtu else t.mtu end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::nic_tag, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'placement_group' then
    update placement_group t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        labels = case when e ? 'labels' then r.labels else t.labels end,
        policy = case when e ? 'policy' then r.policy else t.policy end,
        level = case when e ? 'level' then r.level else t.level end,
        strictness = case when e ? 'strictness' then r.strictness else t.strictness end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::placement_group, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'port_forward' then
    update port_forward t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        vpc_id = case when e ? 'vpc_id' then r.vpc_id else t.vpc_id end,
        nat_gateway_id = case when e ? 'nat_gateway_id' then r.nat_gateway_id else t.nat_gateway_id end,
        nic_id = case when e ? 'nic_id' then r.nic_id else t.nic_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        protocol = case when e ? 'protocol' then r.protocol else t.protocol end,
        public_port = case when e ? 'public_port' then r.public_port else t.public_port end,
        nic_port = case when e ? 'nic_port' then r.nic_port else t.nic_port end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::port_forward, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'project' then
    update project t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::project, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'quota' then
    update quota t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        cpu_limit = case when e ? 'cpu_limit' then r.cpu_limit else t.cpu_limit end,
        memory_bytes = case when e ? 'memory_bytes' then r.memory_bytes else t.memory_bytes end,
        disk_bytes = case when e ? 'disk_bytes' then r.disk_bytes else t.disk_bytes end,
        instance_limit = case when e ? 'instance_limit' then r.instance_limit else t.instance_limit end,
        updated_at = case when e ? 'updated_at' then r.updated_at else t.updated_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::quota, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.project_id = (e->>'$id')::uuid;
  when 'route' then
    update route t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        vpc_id = case when e ? 'vpc_id' then r.vpc_id else t.vpc_id end,
        route_table_id = case when e ? 'route_table_id' then r.route_table_id else t.route_table_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        destination = case when e ? 'destination' then r.destination else t.destination end,
        target_kind = case when e ? 'target_kind' then r.target_kind else t.target_kind end,
        nat_gateway_id = case when e ? 'nat_gateway_id' then r.nat_gateway_id else t.nat_gateway_id end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::route, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'route_table' then
    update route_table t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        vpc_id = case when e ? 'vpc_id' then r.vpc_id else t.vpc_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        is_main = case when e ? 'is_main' then r.is_main else t.is_main end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::route_table, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'saga' then
    update saga t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        saga = case when e ? 'saga' then r.saga else t.saga end,
        params = case when e ? 'params' then r.params else t.params end,
        refs = case when e ? 'refs' then r.refs else t.refs end,
        outputs = case when e ? 'outputs' then r.outputs else t.outputs end,
        steps = case when e ? 'steps' then r.steps else t.steps end,
        early = case when e ? 'early' then r.early else t.early end,
        error = case when e ? 'error' then r.error else t.error end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        step = case when e ? 'step' then r.step else t.step end,
        job_id = case when e ? 'job_id' then r.job_id else t.job_id end,
        attempts = case when e ? 'attempts' then r.attempts else t.attempts end,
        due_at = case when e ? 'due_at' then r.due_at else t.due_at end,
        done_at = case when e ? 'done_at' then r.done_at else t.done_at end,
        stuck_reason = case when e ? 'stuck_reason' then r.stuck_reason else t.stuck_reason end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::saga, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'session' then
    update session t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        user_id = case when e ? 'user_id' then r.user_id else t.user_id end,
        user_epoch = case when e ? 'user_epoch' then r.user_epoch else t.user_epoch end,
        generation = case when e ? 'generation' then r.generation else t.generation end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        refreshed_at = case when e ? 'refreshed_at' then r.refreshed_at else t.refreshed_at end,
        expires_at = case when e ? 'expires_at' then r.expires_at else t.expires_at end,
        kind = case when e ? 'kind' then r.kind else t.kind end,
        api_key_id = case when e ? 'api_key_id' then r.api_key_id else t.api_key_id end,
        granted_root = case when e ? 'granted_root' then r.granted_root else t.granted_root end,
        granted_scope = case when e ? 'granted_scope' then r.granted_scope else t.granted_scope end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::session, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'setting' then
    update setting t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        value = case when e ? 'value' then r.value else t.value end,
        updated_at = case when e ? 'updated_at' then r.updated_at else t.updated_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::setting, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.key = (e->>'$id')::text;
  when 'silo' then
    update silo t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        default_tenant_id = case when e ? 'default_tenant_id' then r.default_tenant_id else t.default_tenant_id end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::silo, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'site' then
    update site t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        window_opened_at = case when e ? 'window_opened_at' then r.window_opened_at else t.window_opened_at end,
        window_expires_at = case when e ? 'window_expires_at' then r.window_expires_at else t.window_expires_at end,
        window_count = case when e ? 'window_count' then r.window_count else t.window_count end,
        window_opened_by = case when e ? 'window_opened_by' then r.window_opened_by else t.window_opened_by end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::site, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::text;
  when 'ssh_key' then
    update ssh_key t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        scope_kind = case when e ? 'scope_kind' then r.scope_kind else t.scope_kind end,
        silo_id = case when e ? 'silo_id' then r.silo_id else t.silo_id end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        user_id = case when e ? 'user_id' then r.user_id else t.user_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        public_key = case when e ? 'public_key' then r.public_key else t.public_key end,
        fingerprint = case when e ? 'fingerprint' then r.fingerprint else t.fingerprint end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::ssh_key, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'staging' then
    update staging t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        stamps = case when e ? 'stamps' then r.stamps else t.stamps end,
        staged_at = case when e ? 'staged_at' then r.staged_at else t.staged_at end,
        kinds = case when e ? 'kinds' then r.kinds else t.kinds end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::staging, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.staged_by = (e->>'$id')::uuid;
  when 'subnet' then
    update subnet t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        vpc_id = case when e ? 'vpc_id' then r.vpc_id else t.vpc_id end,
        route_table_id = case when e ? 'route_table_id' then r.route_table_id else t.route_table_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        ipv4_block = case when e ? 'ipv4_block' then r.ipv4_block else t.ipv4_block end,
        ipv6_block = case when e ? 'ipv6_block' then r.ipv6_block else t.ipv6_block end,
        vpc_ipv4_block = case when e ? 'vpc_ipv4_block' then r.vpc_ipv4_block else t.vpc_ipv4_block end,
        vpc_ipv6_block = case when e ? 'vpc_ipv6_block' then r.vpc_ipv6_block else t.vpc_ipv6_block end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::subnet, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'tenant' then
    update tenant t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        silo_id = case when e ? 'silo_id' then r.silo_id else t.silo_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::tenant, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'tenant_quota' then
    update tenant_quota t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        cpu_limit = case when e ? 'cpu_limit' then r.cpu_limit else t.cpu_limit end,
        memory_bytes = case when e ? 'memory_bytes' then r.memory_bytes else t.memory_bytes end,
        disk_bytes = case when e ? 'disk_bytes' then r.disk_bytes else t.disk_bytes end,
        instance_limit = case when e ? 'instance_limit' then r.instance_limit else t.instance_limit end,
        updated_at = case when e ? 'updated_at' then r.updated_at else t.updated_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::tenant_quota, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.tenant_id = (e->>'$id')::uuid;
  when 'user_account' then
    update user_account t set username = case when e ? 'username' then r.username else t.username end,
        is_root = case when e ? 'is_root' then r.is_root else t.is_root end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        password_hash = case when e ? 'password_hash' then r.password_hash else t.password_hash end,
        capabilities = case when e ? 'capabilities' then r.capabilities else t.capabilities end,
        issuer = case when e ? 'issuer' then r.issuer else t.issuer end,
        subject = case when e ? 'subject' then r.subject else t.subject end,
        session_epoch = case when e ? 'session_epoch' then r.session_epoch else t.session_epoch end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::user_account, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'vpc' then
    update vpc t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        main_route_table_id = case when e ? 'main_route_table_id' then r.main_route_table_id else t.main_route_table_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        vni = case when e ? 'vni' then r.vni else t.vni end,
        ipv4_block = case when e ? 'ipv4_block' then r.ipv4_block else t.ipv4_block end,
        ipv6_block = case when e ? 'ipv6_block' then r.ipv6_block else t.ipv6_block end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        labels = case when e ? 'labels' then r.labels else t.labels end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::vpc, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  when 'webhook' then
    update webhook t set incarnation = case when e ? 'incarnation' then r.incarnation else t.incarnation end,
        version = case when e ? 'version' then r.version else t.version end,
        wake_at = case when e ? 'wake_at' then r.wake_at else t.wake_at end,
        state = case when e ? 'state' then r.state else t.state end,
        tenant_id = case when e ? 'tenant_id' then r.tenant_id else t.tenant_id end,
        project_id = case when e ? 'project_id' then r.project_id else t.project_id end,
        name = case when e ? 'name' then r.name else t.name end,
        description = case when e ? 'description' then r.description else t.description end,
        labels = case when e ? 'labels' then r.labels else t.labels end,
        url = case when e ? 'url' then r.url else t.url end,
        events = case when e ? 'events' then r.events else t.events end,
        enabled = case when e ? 'enabled' then r.enabled else t.enabled end,
        sealed_secret = case when e ? 'sealed_secret' then r.sealed_secret else t.sealed_secret end,
        created_at = case when e ? 'created_at' then r.created_at else t.created_at end,
        enabled_at = case when e ? 'enabled_at' then r.enabled_at else t.enabled_at end,
        disabled_at = case when e ? 'disabled_at' then r.disabled_at else t.disabled_at end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::webhook, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int and t.id = (e->>'$id')::uuid;
  else
    execute berth_statement('update', $4, $5, $6) using $1, $2, $3;
  end case;
end $function$;

CREATE OR REPLACE FUNCTION public.berth_upsert(jsonb, integer[], text[], text, text[], text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  case $4 || ' ' || $5::text
  when 'cn_signal {server_uuid}' then
    insert into cn_signal as t (server_uuid, last_seen, last_status, status_at, status_made_at, status_id,
        agent_version)
    select r.server_uuid, r.last_seen, r.last_status, r.status_at, r.status_made_at, r.status_id, r.agent_version
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::cn_signal, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int
        on conflict (server_uuid) do update set last_seen = case when 'last_seen' = any($3) then excluded.last_seen else t.last_seen end,
        last_status = case when 'last_status' = any($3) then excluded.last_status else t.last_status end,
        status_at = case when 'status_at' = any($3) then excluded.status_at else t.status_at end,
        status_made_at = case when 'status_made_at' = any($3) then excluded.status_made_at else t.status_made_at end,
        status_id = case when 'status_id' = any($3) then excluded.status_id else t.status_id end,
        agent_version = case when 'agent_version' = any($3) then excluded.agent_version else t.agent_version end;
  when 'disk {id}' then
    insert into disk as t (id, tenant_id, project_id, instance_id, name, description, kind, size_bytes,
        applied_bytes, source_image_id, created_at, resize_operation_id, attached, source_disk_id, consistency,
        labels)
    select r.id, r.tenant_id, r.project_id, r.instance_id, r.name, r.description, r.kind, r.size_bytes,
        r.applied_bytes, r.source_image_id, r.created_at, r.resize_operation_id,
        case when e ? 'attached' then r.attached else true end, r.source_disk_id, r.consistency,
        case when e ? 'labels' then r.labels else '{}'::jsonb end
      from jsonb_array_elements($1) e cross join jsonb_populate_record(null::disk, e) r
     where $2[(e->>'$u')::int + 1] = (e->>'$c')::int
        on conflict (id) do update set tenant_id = case when 'tenant_id' = any($3) then excluded.tenant_id else t.tenant_id end,
        project_id = case when 'project_id' = any($3) then excluded.project_id else t.project_id end,
        instance_id = case when 'instance_id' = any($3) then excluded.instance_id else t.instance_id end,
        name = case when 'name' = any($3) then excluded.name else t.name end,
        description = case when 'description' = any($3) then excluded.description else t.description end,
        kind = case when 'kind' = any($3) then excluded.kind else t.kind end,
        size_bytes = case when 'size_bytes' = any($3) then excluded.size_bytes else t.size_bytes end,
        applied_bytes = case when 'applied_bytes' = any($3) then excluded.applied_bytes else t.applied_bytes end,
        source_image_id = case when 'source_image_id' = any($3) then excluded.source_image_id else t.source_image_id end,
        created_at = case when 'created_at' = any($3) then excluded.created_at else t.created_at end,
        resize_operation_id = case when 'resize_operation_id' = any($3) then excluded.resize_operation_id else t.resize_operation_id end,
        attached = case when 'attached' = any($3) then excluded.attached else t.attached end,
        source_disk_id = case when 'source_disk_id' = any($3) then excluded.source_disk_id else t.source_disk_id end,
        consistency = case when 'consistency' = any($3) then excluded.consistency else t.consistency end,
        labels = case when 'labels' = any($3) then excluded.labels else t.labels end;
  else
    execute berth_statement('upsert', $4, $5, $6) using $1, $2, $3;
  end case;
end $function$;

CREATE OR REPLACE FUNCTION public.berth_vpc_generation(of_vpc uuid)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce((select generation from vpc_generation where vpc_id = of_vpc), 0)
       + (select count(*) from vpc_change where vpc_id = of_vpc) $function$;

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
    -- If the row is not found, another call has just deleted it.
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

CREATE OR REPLACE FUNCTION public.count_host()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op <> 'INSERT' and old.host_cn_uuid is not null then
    update cn_tenant_usage set instances = instances - 1
     where server_uuid = old.host_cn_uuid and tenant_id = old.tenant_id;
    delete from cn_tenant_usage
     where server_uuid = old.host_cn_uuid and tenant_id = old.tenant_id and instances = 0;
  end if;
  if tg_op <> 'DELETE' and new.host_cn_uuid is not null then
    insert into cn_tenant_usage as u (server_uuid, tenant_id, instances)
      values (new.host_cn_uuid, new.tenant_id, 1)
      on conflict (server_uuid, tenant_id) do update set instances = u.instances + 1;
  end if;
  return null;
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

CREATE OR REPLACE FUNCTION public.effect_cn_network_changed(args jsonb)
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into vpc_change (vpc_id) select vpc_id from vpc_node where server_uuid = (args->>'server_uuid')::uuid $function$;

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

CREATE OR REPLACE FUNCTION public.effect_external_network_changed(args jsonb)
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into vpc_change (vpc_id)
    select g.vpc_id from nat_gateway g
     where g.public_address <<= (args->>'ipv4_block')::inet or g.public_address <<= (args->>'ipv6_block')::inet
    union
    select n.vpc_id from floating_ip f join nic n on n.id = f.attached_to
     where f.address <<= (args->>'ipv4_block')::inet or f.address <<= (args->>'ipv6_block')::inet $function$;

CREATE OR REPLACE FUNCTION public.effect_nics_changed(args jsonb)
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into vpc_change (vpc_id)
    select distinct vpc_id from nic where id in (select n::uuid from jsonb_array_elements_text(args->'nic_ids') n) $function$;

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
  -- A server of the previous release creates tenants without a row in tenant_usage.
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
  -- Finds the gaps between taken addresses from `low` to `high`, both included. The query does not visit every address,
  -- because a block may be too large for that.
  insert into pool_range (pool_id, low, high)
    select 'admin-network', before + 1, n - 1
      from jsonb_array_elements(jsonb_build_array(args) || coalesce(args->'more', '[]')) network, lateral (
        select n, lag(n, 1, (network->>'low')::bigint - 1) over (order by n) as before
          from (select value::bigint from jsonb_array_elements_text(network->'except')
                 union select r.address - block from boot_record r where r.address is not null
                 union select (network->>'high')::bigint + 1) taken(n)
         where n between (network->>'low')::bigint and (network->>'high')::bigint + 1) gaps
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

CREATE OR REPLACE FUNCTION public.effect_webhook_queued(args jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  perform from webhook_queue where webhook_id = (args->>'webhook_id')::uuid for no key update;
  update webhook_queue
     set due_at = case when due_at is null or claim is null then berth_now() else due_at end,
         paused_until = case when coalesce((args->>'ends_pause')::boolean, false) then null else paused_until end
   where webhook_id = (args->>'webhook_id')::uuid;
end $function$;

CREATE OR REPLACE FUNCTION public.effect_webhook_redelivered(args jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  perform from webhook_queue where webhook_id = (args->>'webhook_id')::uuid for no key update;
  update webhook_delivery set state = 'pending', attempts = 0, ended_at = null, begun_at = berth_now()
   where id = (args->>'id')::uuid and webhook_id = (args->>'webhook_id')::uuid;
  update webhook_queue set due_at = berth_now(), paused_until = null
   where webhook_id = (args->>'webhook_id')::uuid and claim is null;
end $function$;

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
  loop
    perform from budget where name = 'claims' for update;
    exit when found;
    insert into budget (name, remaining)
    select 'claims', greatest(0, (args->>'site_max')::bigint - (select count(*) from enrolment_claim))
     where not exists (select from budget where name = 'claims') on conflict do nothing;
  end loop;
  loop
    perform from budget where name = of_source for update;
    exit when found;
    insert into budget (name, remaining)
    select of_source, greatest(0, (args->>'source_max')::bigint -
             (select count(*) from enrolment_claim where source_bucket = args->>'source_bucket'))
     where not exists (select from budget where name = of_source) on conflict do nothing;
  end loop;
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
  threads double precision;
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

  if wanted.cpu_units > 0 and not args ? 'grows' then
    if node.state <> 'approved' then return format('it is %s', node.state); end if;
    -- A node needs a heartbeat in the last 60 s (docs/limits.md).
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
      return 'it is pinned to another silo or tenant';
    end if;
  end if;

  if node.report is null then return 'it has not reported its capacity'; end if;
  -- Overprovisioning shares processors between instances. Within one instance, each vCPU needs its own processor.
  threads := (node.report->>'cpu_threads_logical')::double precision;
  if wanted.cpu_units > 0 and threads * 100 < coalesce((args->>'cpu')::bigint * 100, wanted.cpu_units) then
    return format('it has %s processor%s, %s', threads, case when threads = 1 then '' else 's' end,
                  coalesce('and cpu would be ' || (args->>'cpu'), wanted.cpu_units / 100 || ' wanted'));
  end if;
  -- The default overprovisioning factors are 4.0 for CPU, 1.0 for memory and 1.0 for disks (docs/limits.md).
  room := threads * 100 * coalesce(node.overprovision_cpu, 4) - node.cpu_units;
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
    -- First computes a lower bound of the room without reading the disks: it counts every disk as not created yet.
    room := least((pool->>'total_bytes')::double precision, (pool->>'free_bytes')::double precision)
            * coalesce(node.overprovision_disk, 1) - node.disk_bytes;
    if room >= wanted.disk_bytes then return 'true'; end if;
    -- Earlier units of this wave may have taken disk space of the node. The counter node.disk_bytes includes their
    -- disks, but the rows of these disks are not written yet.
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

CREATE OR REPLACE FUNCTION public.guard_cn_is_not_draining(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce((select id::text from saga
                    where refs @> jsonb_build_array(jsonb_build_object('scope', 'cn', 'id', args->>'server_uuid'))
                      and saga in ('cn-drain', 'cn-evacuate') and state = 'running' limit 1), 'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_cn_is_not_upgrading(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select id::text from saga where id = (args->>'operation_id')::uuid),
    (select id::text from saga
      where refs @> jsonb_build_array(jsonb_build_object('scope', 'cn', 'id', args->>'server_uuid'))
        and saga in ('cn-drain', 'cn-evacuate', 'cn-upgrade') and state in ('running', 'unwinding') limit 1),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_cn_is_silent(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce((select to_char(last_seen at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') from cn_signal
                    where server_uuid = (args->>'server_uuid')::uuid
                      and last_seen >= berth_now() - make_interval(secs => (args->>'live_s')::int)), 'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_cn_may_host_gateway(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select exists (
    select from cn
      join cn_signal s using (server_uuid)
      join cn_nic_tag t using (server_uuid)
      left join cn_placement p using (server_uuid)
     where cn.server_uuid = (args->>'server_uuid')::uuid
       and cn.state = 'approved' and cn.role in ('edge', 'both') and not coalesce(p.cordoned, false)
       and t.name = args->>'nic_tag' and t.bridge is not null
       and s.last_seen >= berth_now() - make_interval(secs => (args->>'live_s')::int))
    and not (args->>'server_uuid')::uuid = any(nodes_of_other_network((args->>'gateway_id')::uuid)) $function$;

CREATE OR REPLACE FUNCTION public.guard_cn_offers_nic_tag(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select exists (select from cn_capacity where server_uuid = (args->>'server_uuid')::uuid
                    and report->'nic_tags' ? (args->>'nic_tag')) $function$;

CREATE OR REPLACE FUNCTION public.guard_cn_sends_fewer(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select case when count(*) < (args->>'migrations_max')::int then 'true' else count(*)::text end
    from migration where source_cn = (args->>'server_uuid')::uuid and instance_id is not null
                     and not berth_migration_ended(state) $function$;

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

CREATE OR REPLACE FUNCTION public.guard_external_subnet_is_off_nodes(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select format('node %s may still answer for %s', r.leaving_cn_uuid, host(r.address))
       from pool p join resting_address r on r.address <<= p.network
      where p.id in ('external:' || (args->>'id') || ':v4', 'external:' || (args->>'id') || ':v6')
      order by r.address limit 1),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_external_subnet_is_unused(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(berth_named(array(
    (select format('floating ip %s', id) from floating_ip where network_id = (args->>'id')::uuid limit 6)
    union all
    (select format('nat gateway %s', id) from nat_gateway where network_id = (args->>'id')::uuid limit 6)
    union all
    (select format('network pool %s (%s)', p.name, p.id) from network_pool_network n
       join network_pool p on p.id = n.network_pool_id where n.network_id = (args->>'id')::uuid limit 6)
    union all
    (select format('address %s of a deleted nat gateway on node %s', host(r.address), r.leaving_cn_uuid)
       from pool p join resting_address r on r.address <<= p.network
      where p.id in ('external:' || (args->>'id') || ':v4', 'external:' || (args->>'id') || ':v6')
      order by r.address limit 6)
    limit 6)), 'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_external_subnets_exist(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select g.id from jsonb_array_elements_text(args->'networks') with ordinality g(id, n)
      where not exists (select from external_subnet s where s.id = g.id::uuid) order by g.n limit 1),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_firewall_rules_are(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select berth_firewall_tag((args->>'vpc_id')::uuid) = args->>'tag' $function$;

CREATE OR REPLACE FUNCTION public.guard_floating_ip_is_off_nodes(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select target_cn::text from (
       select target_cn from job
        where payload ? 'floating_ip_id' and payload->>'floating_ip_id' = args->>'floating_ip_id'
          and (state in ('pending', 'in_progress') or tombstone)
       union all
       select berth_unproven_releases((args->>'floating_ip_id')::uuid)) held
      where exists (select from cn where server_uuid = target_cn) order by target_cn limit 1),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_floating_ip_is_released(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select held || case when has_failed then ', which failed to release it; ask an operator to repair the network ' ||
                                              'of this node, or attach the address to an instance on it'
                         else ', which has not released it yet; try again in a minute' end
       from (
         select target_cn as held, kind = 'fip_release' and payload->>'nic_id' = args->>'nic_id' as is_of_nic,
                false as has_failed
           from job
          where payload ? 'floating_ip_id' and payload->>'floating_ip_id' = args->>'floating_ip_id'
            and (kind = 'fip_release' and state = 'in_progress'
                 or (kind = 'fip_release' and state = 'pending' or kind = 'fip_claim' and tombstone)
                    and exists (select from cn where server_uuid = target_cn and cn.state = 'approved'))
         union all
         select berth_unproven_releases((args->>'floating_ip_id')::uuid), false, true) h
       join cn_signal s on s.server_uuid = held
      where (held <> (args->>'server_uuid')::uuid or is_of_nic)
        and s.last_seen >= berth_now() - make_interval(secs => (args->>'live_s')::int)
      order by has_failed desc, held limit 1),
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

CREATE OR REPLACE FUNCTION public.guard_image_exists(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce((select 'true' from image where id = (args->>'image_id')::uuid), args->>'image_id') $function$;

CREATE OR REPLACE FUNCTION public.guard_image_is_unused(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select case count(*) when 0 then 'true' when 1 then '1 instance' else format('%s instances', count(*)) end
    from (select id from instance where image_id = (args->>'image_id')::uuid
          union
          select instance_id from disk where kind = 'boot' and source_image_id = (args->>'image_id')::uuid) used $function$;

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

CREATE OR REPLACE FUNCTION public.guard_nat_gateway_has_no_forward(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select not exists (select from port_forward where nat_gateway_id = (args->>'id')::uuid) $function$;

CREATE OR REPLACE FUNCTION public.guard_nat_gateway_has_room(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select count(*) < (args->>'max')::bigint from (
    select from port_forward where nat_gateway_id = (args->>'id')::uuid limit (args->>'max')::bigint) f $function$;

CREATE OR REPLACE FUNCTION public.guard_nat_gateway_is_unused(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select not exists (select from route where nat_gateway_id = (args->>'id')::uuid) $function$;

CREATE OR REPLACE FUNCTION public.guard_nic_blocks_are_apart(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select format('%s of nic %s', c, n.id)
       from nic n, unnest(n.allowed_cidrs) c, jsonb_array_elements_text(args->'blocks') b
      where n.vpc_id = (args->>'vpc_id')::uuid and n.id <> (args->>'nic_id')::uuid and c && b::cidr limit 1),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_nic_is_unused(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select format('floating ip %s (%s)', name, id) from floating_ip
      where attached_to = (args->>'nic_id')::uuid limit 1),
    (select format('floating ip %s (%s)', name, id) from floating_ip
      where prior_nic_id = (args->>'nic_id')::uuid limit 1),
    (select format('port forward %s (%s)', name, id) from port_forward
      where nic_id = (args->>'nic_id')::uuid limit 1),
    'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_nic_tag_exists(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select exists (select from nic_tag where name = args->>'name') $function$;

CREATE OR REPLACE FUNCTION public.guard_nic_tag_is_unused(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(berth_named(array(
    select format('external subnet %s (%s)', name, id) from external_subnet
      where nic_tag = args->>'name' order by id limit 6)), 'true') $function$;

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
  select not exists (select from migration where source_cn = (args->>'server_uuid')::uuid
                        and instance_id is not null and not berth_migration_ended(state))
     and not exists (select from migration where target_cn = (args->>'server_uuid')::uuid
                        and instance_id is not null and not berth_migration_ended(state)) $function$;

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

CREATE OR REPLACE FUNCTION public.guard_operation_runs(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select exists (select from saga where id = (args->>'id')::uuid and state = 'running') $function$;

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

CREATE OR REPLACE FUNCTION public.guard_placement_group_allows(args jsonb)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  of_cn  constant uuid := (args->>'server_uuid')::uuid;
  of_group record;
  place  text;
  others bigint;
  beside bigint;
begin
  select g.id, g.name, g.policy, g.level into of_group from placement_group g
   where g.id = (args->>'placement_group_id')::uuid and g.strictness = 'required';
  if not found then return 'true'; end if;
  place := case of_group.level when 'node' then of_cn::text
           else (select p.fault_domain from cn_placement p where p.server_uuid = of_cn) end;
  if place is null then return format('it has no fault domain, which placement group %s needs', of_group.name); end if;
  select count(*), count(*) filter (
           where place = case of_group.level when 'node' then h.server_uuid::text else h.fault_domain end)
    into others, beside
    from placement_group_hosts(of_group.id) h
   where h.instance_id <> (args->>'instance_id')::uuid
     and (of_group.policy = 'anti_affinity' or h.server_uuid is distinct from (args->>'leaves')::uuid);
  if of_group.policy = 'anti_affinity' and beside > 0 then
    return format('another instance of placement group %s is %s', of_group.name,
                  case of_group.level when 'node' then 'on the same node' else 'in the same fault domain' end);
  end if;
  if of_group.policy = 'affinity' and others > 0 and beside = 0 then
    return format('the instances of placement group %s are %s', of_group.name,
                  case of_group.level when 'node' then 'on another node' else 'in another fault domain' end);
  end if;
  return 'true';
end $function$;

CREATE OR REPLACE FUNCTION public.guard_placement_group_is_empty(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select case when count(*) = 0 then 'true' else count(*)::text end
    from instance where placement_group_id = (args->>'id')::uuid $function$;

CREATE OR REPLACE FUNCTION public.guard_project_has_webhook_room(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select count(*) < (args->>'max')::bigint from (
    select from webhook where project_id = (args->>'project_id')::uuid limit (args->>'max')::bigint) w $function$;

CREATE OR REPLACE FUNCTION public.guard_project_is_empty(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(berth_named(array(
    (select format('instance %s (%s)', name, id) from instance where project_id = (args->>'project_id')::uuid limit 6)
    union all
    (select format('vpc %s (%s)', name, id) from vpc where project_id = (args->>'project_id')::uuid limit 6)
    union all
    (select format('floating ip %s (%s)', name, id) from floating_ip
      where project_id = (args->>'project_id')::uuid limit 6)
    union all
    (select format('image %s (%s)', name, id) from image where project_id = (args->>'project_id')::uuid limit 6)
    union all
    (select format('placement group %s (%s)', name, id) from placement_group
      where project_id = (args->>'project_id')::uuid limit 6)
    union all
    (select format('webhook %s (%s)', name, id) from webhook where project_id = (args->>'project_id')::uuid limit 6)
    union all
    (select format('ssh key %s (%s)', name, id) from ssh_key where project_id = (args->>'project_id')::uuid limit 6)
    limit 6)), 'true') $function$;

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

CREATE OR REPLACE FUNCTION public.guard_silo_is_empty(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(berth_named(array(
    (select format('tenant %s (%s)', t.name, t.id) from tenant t
      where t.silo_id = (args->>'silo_id')::uuid
        and not exists (select from silo s where s.default_tenant_id = t.id) limit 6)
    union all
    (select format('image %s (%s)', name, id) from image where silo_id = (args->>'silo_id')::uuid limit 6)
    union all
    (select format('ssh key %s (%s)', name, id) from ssh_key where silo_id = (args->>'silo_id')::uuid limit 6)
    limit 6)), 'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_silo_is_not_named(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(
    (select format('external subnet %s (%s)', name, id) from external_subnet
      where (args->>'silo_id')::uuid = any(owner_silos) limit 1),
    (select format('network pool %s (%s)', name, id) from network_pool
      where (args->>'silo_id')::uuid = any(owner_silos) limit 1),
    (select format('the pin of node %s', p.server_uuid) from cn_placement p
      where p.pinned_silo_uuid = (args->>'silo_id')::uuid
         or p.pinned_tenant_uuid = (select default_tenant_id from silo where id = (args->>'silo_id')::uuid) limit 1),
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
  select coalesce(berth_named(array(
    select format('nic %s of instance %s', id, instance_id) from nic
      where subnet_id = (args->>'subnet_id')::uuid limit 6)), 'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_tenant_is_empty(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(berth_named(array(
    (select format('project %s (%s)', name, id) from project where tenant_id = (args->>'tenant_id')::uuid limit 6)
    union all
    (select format('image %s (%s)', name, id) from image where tenant_id = (args->>'tenant_id')::uuid limit 6)
    union all
    (select format('ssh key %s (%s)', name, id) from ssh_key where tenant_id = (args->>'tenant_id')::uuid limit 6)
    union all
    (select format('identity provider %s', issuer_url) from tenant_idp where tenant_id = (args->>'tenant_id')::uuid limit 6)
    union all
    (select format('API key %s', id) from api_key where tenant_id = (args->>'tenant_id')::uuid limit 6)
    union all
    (select format('user %s (%s)', username, id) from user_account where tenant_id = (args->>'tenant_id')::uuid limit 6)
    limit 6)), 'true') $function$;

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
  loop
    perform from budget where name = 'unproven-nodes' for update;
    exit when found;
    insert into budget (name, remaining)
    select 'unproven-nodes', greatest(0, (args->>'max')::bigint - (select count(*) from cn where unproven))
     where not exists (select from budget where name = 'unproven-nodes') on conflict do nothing;
  end loop;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION public.guard_user_owns_no_key(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(berth_named(array(
    select format('API key %s (%s)', id, description) from api_key where user_id = (args->>'user_id')::uuid
      order by created_at, id limit 6)), 'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_vni_is_free(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select not exists (select from vpc where vni = (args->>'vni')::int)
     and not exists (select from ended_vpc e join vpc_realization r using (vpc_id)
                      where e.vni = (args->>'vni')::int) $function$;

CREATE OR REPLACE FUNCTION public.guard_vpc_is_empty(args jsonb)
 RETURNS text
 LANGUAGE sql
AS $function$
  select coalesce(berth_named(array(
    (select format('subnet %s (%s)', name, id) from subnet where vpc_id = (args->>'vpc_id')::uuid limit 6)
    union all
    (select format('route table %s (%s)', name, id) from route_table
      where vpc_id = (args->>'vpc_id')::uuid and not is_main limit 6)
    union all
    (select format('firewall rule %s (%s)', name, id) from firewall_rule
      where vpc_id = (args->>'vpc_id')::uuid limit 6)
    union all
    (select format('nat gateway %s (%s)', name, id) from nat_gateway where vpc_id = (args->>'vpc_id')::uuid limit 6)
    limit 6)), 'true') $function$;

CREATE OR REPLACE FUNCTION public.guard_webhook_delivery_exists(args jsonb)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select exists (select from webhook_delivery
                  where id = (args->>'id')::uuid and webhook_id = (args->>'webhook_id')::uuid) $function$;

CREATE OR REPLACE FUNCTION public.instance_load_part(of_step text, instances integer)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  pass_at constant timestamptz := berth_now();
  done    instance_load_done;
  low     timestamptz;
  due     timestamptz;
  ids     uuid[];
begin
  if not pg_try_advisory_xact_lock(hashtextextended('instance-load', 0)) then return false; end if;
  select * into done from instance_load_done where step = of_step;
  if of_step = 'minute' then
    -- Samples are kept for an hour. A minute is due 10 s after its end, because a report may take some time to commit.
    low := greatest(done.at + interval '1 minute', date_trunc('minute', pass_at - interval '1 hour', 'UTC'));
    due := date_trunc('minute', pass_at - interval '10 seconds', 'UTC');
  else
    -- Minutes are kept for 6 hours. An hour is due when its last minute is summarized.
    low := greatest(done.at + interval '1 hour', date_trunc('hour', pass_at - interval '6 hours', 'UTC'));
    select date_trunc('hour', at + interval '1 minute', 'UTC') into due from instance_load_done where step = 'minute';
  end if;
  if low >= due then return false; end if;

  ids := array(
    select id from instance
     where id > case when done.part_of = low then done.part_after else '00000000-0000-0000-0000-000000000000' end
     order by id limit instances);
  if of_step = 'minute' then
    insert into instance_load
      select i.id, 'minute', low, p.*
        from unnest(ids) i(id), lateral (
          select sum(d.cpu) / sum(d.seconds), max(d.cpu / d.seconds), avg(d.memory_bytes)::bigint,
                 sum(d.disk_read) / sum(d.seconds), sum(d.disk_written) / sum(d.seconds),
                 sum(d.received) / sum(d.seconds), sum(d.sent) / sum(d.seconds), bool_or(d.simulated)
            from (select e.memory_bytes, e.simulated, case when e.grew then e.seconds end as seconds,
                         case when e.grew then e.cpu end as cpu, case when e.grew then e.disk_read end as disk_read,
                         case when e.grew then e.disk_written end as disk_written,
                         case when e.grew then e.received end as received, case when e.grew then e.sent end as sent
                    from (select f.*, f.seconds > 0
                                 and least(f.cpu, f.disk_read, f.disk_written, f.received, f.sent) >= 0 as grew
                            from (select m.at, m.memory_bytes, m.simulated,
                                         extract(epoch from m.at - lag(m.at) over run)::double precision as seconds,
                                         round((m.cpu_seconds - lag(m.cpu_seconds) over run)::numeric, 6)
                                           ::double precision as cpu,
                                         m.disk_read_bytes - lag(m.disk_read_bytes) over run as disk_read,
                                         m.disk_written_bytes - lag(m.disk_written_bytes) over run as disk_written,
                                         m.network_received_bytes - lag(m.network_received_bytes) over run as received,
                                         m.network_sent_bytes - lag(m.network_sent_bytes) over run as sent
                                    from instance_metrics m
                                   where m.instance_id = i.id and m.at >= low - interval '1 minute'
                                     and m.at < low + interval '1 minute'
                                  window run as (order by m.at)) f) e
                   where e.at >= low) d
          having count(*) > 0) p
    on conflict do nothing;
  else
    insert into instance_load
      select i.id, 'hour', low, h.*
        from unnest(ids) i(id), lateral (
          select avg(l.cpu), max(l.cpu_max), avg(l.memory_bytes)::bigint, avg(l.disk_read_bytes_per_s),
                 avg(l.disk_written_bytes_per_s), avg(l.network_received_bytes_per_s), avg(l.network_sent_bytes_per_s),
                 bool_or(l.simulated)
            from instance_load l
           where l.instance_id = i.id and l.step = 'minute' and l.at >= low and l.at < low + interval '1 hour'
          having count(*) > 0) h
    on conflict do nothing;
  end if;

  if cardinality(ids) = instances then
    update instance_load_done set part_of = low, part_after = ids[instances] where step = of_step;
  else
    update instance_load_done set at = low, part_of = null, part_after = null where step = of_step;
  end if;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION public.instance_load_sum()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  pass_at constant timestamptz := berth_now();
begin
  while instance_load_part('minute', null) loop null; end loop;
  while instance_load_part('hour', null) loop null; end loop;
  delete from instance_load where step = 'minute' and at <= pass_at - interval '6 hours';
  delete from instance_load where step = 'hour' and at <= pass_at - interval '7 days';
end $function$;

CREATE OR REPLACE FUNCTION public.job_number()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$ begin new.seq := nextval('job_seq'); return new; end $function$;

CREATE OR REPLACE FUNCTION public.limits_in_force(quota jsonb, defaults jsonb, OUT cpu bigint, OUT memory_bytes bigint, OUT disk_bytes bigint, OUT instances bigint, OUT own boolean)
 RETURNS record
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select (l.of->>'cpu_limit')::bigint, (l.of->>'memory_bytes')::bigint, (l.of->>'disk_bytes')::bigint,
         (l.of->>'instance_limit')::bigint, quota is not null
    from (values (coalesce(quota, defaults))) l(of) $function$;

CREATE OR REPLACE FUNCTION public.limits_of_project(project uuid, defaults jsonb, OUT cpu bigint, OUT memory_bytes bigint, OUT disk_bytes bigint, OUT instances bigint, OUT own boolean)
 RETURNS record
 LANGUAGE sql
 STABLE
AS $function$
  select l.* from limits_in_force((select to_jsonb(q) from quota q where q.project_id = project), defaults) l $function$;

CREATE OR REPLACE FUNCTION public.limits_of_tenant(tenant uuid, defaults jsonb, OUT cpu bigint, OUT memory_bytes bigint, OUT disk_bytes bigint, OUT instances bigint, OUT own boolean)
 RETURNS record
 LANGUAGE sql
 STABLE
AS $function$
  select l.* from limits_in_force((select to_jsonb(q) from tenant_quota q where q.tenant_id = tenant), defaults) l $function$;

CREATE OR REPLACE FUNCTION public.load_fleet(hours integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  pass_at constant timestamptz := berth_now();
  stored  int;
begin
  insert into cn_load_fleet (hour, cpu_mean, cpu_max, nodes)
    select due.hour, fleet.cpu_mean, fleet.cpu_max, fleet.nodes
      from (select g.hour
              from generate_series(date_trunc('hour', pass_at - interval '7 days', 'UTC') + interval '1 hour',
                                   date_trunc('hour', pass_at - interval '10 minutes', 'UTC') - interval '1 hour',
                                   interval '1 hour') g(hour)
             where not exists (select from cn_load_fleet f where f.hour = g.hour)
               and exists (select from cn_load_hour h where h.hour = g.hour)
             order by g.hour limit hours) due,
           lateral (
             select round(avg(round((c.weighted / nullif(c.total, 0))::numeric, 4)::float8)::numeric, 4) as cpu_mean,
                    max(h.cpu_max) as cpu_max, count(*) as nodes
               from cn_load_hour h, lateral (
                 select sum(n) as total, sum(n * (i - 0.5) / 20) as weighted
                   from unnest(h.cpu_counts) with ordinality u(n, i)) c
              where h.hour = due.hour having count(*) > 0) fleet
  on conflict do nothing;
  get diagnostics stored = row_count;
  return stored;
end $function$;

CREATE OR REPLACE FUNCTION public.load_long(nodes integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION public.load_materialize(interval_s double precision)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION public.load_sample(interval_s double precision)
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

  insert into cn_load_summary as l (server_uuid, summary, last_refreshed_at)
    select server_uuid, jsonb_build_object(
             'cpu_p50_5m', round(percentile_cont(0.5) within group (order by cpu)::numeric, 4),
             'cpu_p95_5m', round(percentile_cont(0.95) within group (order by cpu)::numeric, 4),
             'cpu_max_5m', round(max(cpu)::numeric, 4),
             'ram_used_p95_5m', round(percentile_cont(0.95) within group (order by ram_used)::numeric, 4),
             'samples_5m', count(*)), pass_at
      from cn_load_sample where at > pass_at - interval '5 minutes' group by server_uuid order by server_uuid
  on conflict (server_uuid) do update
    set summary = l.summary || excluded.summary, last_refreshed_at = excluded.last_refreshed_at;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION public.log_drop(keep_s bigint, rows_max integer, swept text[])
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
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

CREATE OR REPLACE FUNCTION public.nodes_of_other_network(gateway_id uuid)
 RETURNS uuid[]
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(array_agg(distinct o.host_cn_uuid), '{}')
    from nat_gateway g
    join external_subnet e on e.ipv4_block >>= g.public_address or e.ipv6_block >>= g.public_address
    join nat_gateway o on o.vpc_id = g.vpc_id and o.id <> g.id and o.host_cn_uuid is not null
    join external_subnet x on x.ipv4_block >>= o.public_address or x.ipv6_block >>= o.public_address
    left join cn_nic_tag t on t.server_uuid = o.host_cn_uuid and t.name = e.nic_tag
    left join cn_nic_tag u on u.server_uuid = o.host_cn_uuid and u.name = x.nic_tag
   where g.id = gateway_id and (u.bridge, x.vlan_id) is distinct from (t.bridge, e.vlan_id) $function$;

CREATE OR REPLACE FUNCTION public.nodes_to_place(at timestamp with time zone DEFAULT NULL::timestamp with time zone)
 RETURNS TABLE(now timestamp with time zone, server_uuid uuid, hostname text, state text, role text, last_seen timestamp with time zone, placement jsonb, traits jsonb, capacity jsonb, cpu_units bigint, ram_mb bigint, disk_bytes bigint, instances bigint, unmade_bytes bigint, neighbours jsonb, summary jsonb, refreshed_at timestamp with time zone)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET jit TO 'off'
 SET max_parallel_workers_per_gather TO '0'
AS $function$
#variable_conflict use_column
begin
  return query
    with clock as (select coalesce(at, berth_now()) as now),
    beside as (
      select u.server_uuid, jsonb_agg(jsonb_build_object('tenant_id', u.tenant_id, 'silo_id', t.silo_id,
                                                         'count', u.instances)) as them
        from cn_tenant_usage u join tenant t on t.id = u.tenant_id group by 1),
    -- A disk is incomplete until its node has created it in full size. Few disks are incomplete, but PostgreSQL expects
    -- that a third of all disks are incomplete. So the query looks up the instance of each such disk by itself.
    unmade as (
      select each.host_cn_uuid, sum(each.bytes)::bigint as bytes
        from (select (select host_cn_uuid from instance where id = d.instance_id) as host_cn_uuid,
                     d.size_bytes - coalesce(d.applied_bytes, 0) as bytes
                from disk d where d.applied_bytes is null or d.applied_bytes < d.size_bytes) each
       group by 1)
    select clock.now, c.server_uuid, c.hostname, c.state, c.role, c.last_seen, c.placement, c.traits,
           k.report, coalesce(u.cpu_units, 0), coalesce(u.ram_mb, 0), coalesce(u.disk_bytes, 0),
           coalesce(u.instances, 0), coalesce(m.bytes, 0), coalesce(b.them, '[]'), l.summary, l.last_refreshed_at
      from clock left join (
        select c.server_uuid, c.hostname, c.state, c.role, c.last_seen, c.placement, c.traits
          from cn_loaded c where c.state = 'approved') c on true
      left join cn_capacity k on k.server_uuid = c.server_uuid
      left join cn_usage u on u.server_uuid = c.server_uuid
      left join cn_load_summary l on l.server_uuid = c.server_uuid
      left join beside b on b.server_uuid = c.server_uuid
      left join unmade m on m.host_cn_uuid = c.server_uuid;
end $function$;

CREATE OR REPLACE FUNCTION public.nodes_to_place_2(at timestamp with time zone DEFAULT NULL::timestamp with time zone)
 RETURNS TABLE(now timestamp with time zone, server_uuid uuid, hostname text, state text, role text, last_seen timestamp with time zone, placement json, traits jsonb, capacity jsonb, cpu_units bigint, ram_mb bigint, disk_bytes bigint, instances bigint, unmade_bytes bigint, neighbours json, silos json, summary jsonb, refreshed_at timestamp with time zone)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET jit TO 'off'
 SET max_parallel_workers_per_gather TO '0'
AS $function$
#variable_conflict use_column
begin
  return query
    with clock as (select coalesce(at, berth_now()) as now),
    beside as (
      select u.server_uuid, json_object_agg(u.tenant_id, u.instances) as them from cn_tenant_usage u group by 1),
    -- A disk is incomplete until its node has created it in full size. Few disks are incomplete, but PostgreSQL expects
    -- that a third of all disks are incomplete. So the query looks up the instance of each incomplete disk separately.
    -- An instance that is being evacuated is on its new node already, but its applied_bytes are from the dead node. So
    -- the second part of the union counts the applied_bytes as incomplete, too.
    unmade as (
      select each.host_cn_uuid, sum(each.bytes)::bigint as bytes
        from (select (select host_cn_uuid from instance where id = d.instance_id) as host_cn_uuid,
                     d.size_bytes - coalesce(d.applied_bytes, 0) as bytes
                from disk d where d.applied_bytes is null or d.applied_bytes < d.size_bytes
               union all
              select i.host_cn_uuid, least(coalesce(d.applied_bytes, 0), d.size_bytes)
                from migration g join instance i on i.id = g.instance_id and i.host_cn_uuid = g.target_cn
                join disk d on d.instance_id = i.id
               where g.instance_id is not null and g.state <> all (array['completed', 'failed', 'aborted'])) each
       group by 1)
    select clock.now, c.server_uuid, c.hostname, c.state, c.role, s.last_seen, to_json(p), coalesce(p.traits, '{}'),
           k.report, coalesce(u.cpu_units, 0), coalesce(u.ram_mb, 0), coalesce(u.disk_bytes, 0),
           coalesce(u.instances, 0), coalesce(m.bytes, 0), coalesce(b.them, '{}'),
           case when row_number() over () = 1 then (
             select json_object_agg(t.id, t.silo_id) from tenant t
              where t.id in (select tenant_id from cn_tenant_usage)) end,
           l.summary, l.last_refreshed_at
      from clock left join cn c on c.state = 'approved'
      left join cn_signal s on s.server_uuid = c.server_uuid
      left join cn_placement p on p.server_uuid = c.server_uuid
      left join cn_capacity k on k.server_uuid = c.server_uuid
      left join cn_usage u on u.server_uuid = c.server_uuid
      left join cn_load_summary l on l.server_uuid = c.server_uuid
      left join beside b on b.server_uuid = c.server_uuid
      left join unmade m on m.host_cn_uuid = c.server_uuid;
end $function$;

CREATE OR REPLACE FUNCTION public.placement_group_hosts(group_id uuid)
 RETURNS TABLE(instance_id uuid, server_uuid uuid, fault_domain text)
 LANGUAGE sql
 STABLE
AS $function$
  select h.instance_id, h.server_uuid, p.fault_domain
    from (select i.id as instance_id, i.host_cn_uuid as server_uuid from instance i
           where i.placement_group_id = group_id and i.host_cn_uuid is not null
          union
          select i.id, cn from instance i join migration m on m.instance_id = i.id, unnest(array[m.source_cn, m.target_cn]) cn
           where i.placement_group_id = group_id and not berth_migration_ended(m.state)) h
    left join cn_placement p on p.server_uuid = h.server_uuid $function$;

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
  today   constant date := (now() at time zone 'UTC')::date;
  oldest  constant uuid := seen_bound(today - keep_days);
  -- The ids of old tells that are still in the outbox. There are few or none, unless deliveries fail.
  waiting uuid[];
  day     date;
  part    record;
begin
  perform pg_advisory_xact_lock(hashtextextended('berth:seen_maintain', 0));
  for day in select generate_series(today - 1, today + 2, interval '1 day')::date loop
    if to_regclass(format('seen_%s', to_char(day, 'YYYYMMDD'))) is null then
      begin
        execute format('create table %I partition of seen for values from (%L) to (%L)',
          'seen_' || to_char(day, 'YYYYMMDD'), seen_bound(day), seen_bound(day + 1));
      exception when check_violation then
        -- The default partition already has ids of that day, because the clock of a process was ahead, or because no
        -- server had created the partition in time. The ids stay there until they are old.
        null;
      end;
    end if;
  end loop;
  waiting := array(select id from outbox where id < oldest);
  for part in select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
              where i.inhparent = 'seen'::regclass and c.relname ~ '^seen_[0-9]{8}$'
                and to_date(right(c.relname, 8), 'YYYYMMDD') < today - keep_days loop
    -- The rows of the ids in `waiting` move to the default partition, because no other partition accepts such old ids
    -- now.
    execute format('alter table seen detach partition %I', part.relname);
    execute format('insert into seen select * from %I where msg_id = any($1)', part.relname) using waiting;
    execute format('drop table %I', part.relname);
  end loop;
  -- seen_other is the default partition. It is never dropped, so its old ids are deleted here. The limit keeps the
  -- statement short; the next pass deletes more.
  delete from seen_other where msg_id in (
    select msg_id from seen_other s where msg_id < oldest and not exists (select from outbox o where o.id = s.msg_id)
     order by msg_id limit 20000);
end $function$;

CREATE OR REPLACE FUNCTION public.store_metrics(nodes uuid[], jsons text[], apart_s integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  pass_at  constant timestamptz := berth_now();
  today    constant date := (pass_at at time zone 'UTC')::date;
  reported jsonb;
begin
  select jsonb_agg(to_jsonb(m) || jsonb_build_object('server_uuid', u.node, 'tenant_id', i.tenant_id,
                                                     'project_id', i.project_id) order by m.instance_id)
    into reported
    from unnest(nodes, jsons) u(node, json), lateral (
           select distinct on (m.instance_id) m.*
             from jsonb_to_recordset(u.json::jsonb) m(instance_id uuid, made_at timestamptz,
                    cpu_seconds double precision, memory_bytes bigint, disk_read_bytes bigint,
                    disk_written_bytes bigint, network_received_bytes bigint, network_sent_bytes bigint,
                    simulated boolean)) m, instance i
   where i.id = m.instance_id and i.host_cn_uuid = u.node;
  if reported is null then return; end if;

  insert into instance_metrics
    select m.instance_id, pass_at, m.cpu_seconds, m.memory_bytes, m.disk_read_bytes, m.disk_written_bytes,
           m.network_received_bytes, m.network_sent_bytes, coalesce(m.simulated, false)
      from jsonb_populate_recordset(null::instance_metrics, reported) m
     where not exists (select from instance_metrics s
                        where s.instance_id = m.instance_id and s.at > pass_at - make_interval(secs => apart_s))
  on conflict do nothing;

  -- Creates the missing rows and locks the rows of all reported instances, in the order of their ids, before it
  -- computes how much each counter has grown. So two processes cannot count the same bytes.
  insert into usage_counter (instance_id, server_uuid, cpu_seconds, network_received_bytes, network_sent_bytes)
    select r.instance_id, r.server_uuid, 0, 0, 0 from jsonb_populate_recordset(null::usage_counter, reported) r
  on conflict do nothing;
  perform from usage_counter c
    where c.instance_id = any (select r.instance_id from jsonb_populate_recordset(null::usage_counter, reported) r)
    order by c.instance_id for update;

  with fresh as (
    select r.*, c as before, r.cpu_seconds < c.cpu_seconds or r.network_received_bytes < c.network_received_bytes
                or r.network_sent_bytes < c.network_sent_bytes or r.server_uuid <> c.server_uuid as is_new_run
      from jsonb_populate_recordset(null::usage_counter, reported) r join usage_counter c using (instance_id)
     -- Ignores an older report of the same node that arrived late. A report that is older by an hour or more counts:
     -- then the node's clock was set back.
     where not coalesce(r.server_uuid = c.server_uuid and r.made_at <= c.made_at
                        and r.made_at > c.made_at - interval '1 hour', false)),
  kept as (
    update usage_counter c
       set server_uuid = f.server_uuid, made_at = f.made_at, cpu_seconds = f.cpu_seconds,
           network_received_bytes = f.network_received_bytes, network_sent_bytes = f.network_sent_bytes
      from fresh f where c.instance_id = f.instance_id)
  insert into usage_traffic as t (instance_id, day, tenant_id, project_id, network_in_bytes, network_out_bytes)
    select f.instance_id, today, (o->>'tenant_id')::uuid, (o->>'project_id')::uuid, d.received, d.sent
      from fresh f
      join jsonb_array_elements(reported) o on (o->>'instance_id')::uuid = f.instance_id,
           lateral (select f.network_received_bytes
                             - case when is_new_run then 0 else (f.before).network_received_bytes end as received,
                           f.network_sent_bytes
                             - case when is_new_run then 0 else (f.before).network_sent_bytes end as sent) d
     where d.received > 0 or d.sent > 0
     order by f.instance_id
  on conflict (instance_id, day) do update
    set network_in_bytes = t.network_in_bytes + excluded.network_in_bytes,
        network_out_bytes = t.network_out_bytes + excluded.network_out_bytes;
end $function$;

CREATE OR REPLACE FUNCTION public.stored_upload_add()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into stored_upload values (new.id) on conflict do nothing;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.usage_between(first_day date, last_day date, of_project uuid DEFAULT NULL::uuid)
 RETURNS TABLE(project_id uuid, day date, tenant_id uuid, vcpu_seconds numeric, memory_byte_seconds numeric, disk_byte_seconds numeric, floating_ip_seconds numeric, network_in_bytes numeric, network_out_bytes numeric, closed boolean)
 LANGUAGE sql
 STABLE
AS $function$
  select d.project_id, d.day, d.tenant_id, d.vcpu_seconds, d.memory_byte_seconds, d.disk_byte_seconds,
         d.floating_ip_seconds, d.network_in_bytes, d.network_out_bytes, true
    from usage_closed c, usage_day d
   where d.day between first_day and least(last_day, c.day) and (of_project is null or d.project_id = of_project)
  union all
  select u.*, false
    from usage_closed c,
         lateral usage_by_day(greatest(first_day, c.day + 1), last_day, of_project) u $function$;

CREATE OR REPLACE FUNCTION public.usage_by_day(first_day date, last_day date, of_project uuid DEFAULT NULL::uuid)
 RETURNS TABLE(project_id uuid, day date, tenant_id uuid, vcpu_seconds numeric, memory_byte_seconds numeric, disk_byte_seconds numeric, floating_ip_seconds numeric, network_in_bytes numeric, network_out_bytes numeric)
 LANGUAGE sql
 STABLE
AS $function$
  with at as (select berth_now() as now),
  days as (
    select d::date as day, d::timestamp at time zone 'UTC' as low, (d + interval '1 day')::timestamp at time zone 'UTC' as high
      from at, generate_series(first_day::timestamp, least(last_day, (at.now at time zone 'UTC')::date)::timestamp,
                               interval '1 day') d),
  spans as (
    select s.project_id, s.tenant_id, days.day, s.vcpus, s.memory_bytes, s.disk_bytes, s.floating_ips,
           extract(epoch from least(coalesce(s.ended_at, at.now), days.high) - greatest(s.began_at, days.low)) as seconds
      from at, days, usage_span s
     where s.began_at < days.high and coalesce(s.ended_at, at.now) > days.low
       and (of_project is null or s.project_id = of_project)),
  parts as (
    select s.project_id, s.day, s.tenant_id, s.vcpus * seconds as vcpu, s.memory_bytes * seconds as memory,
           s.disk_bytes * seconds as disk, s.floating_ips * seconds as ip, 0 as received, 0 as sent from spans s
    union all
    select t.project_id, t.day, t.tenant_id, 0, 0, 0, 0, t.network_in_bytes, t.network_out_bytes from usage_traffic t
     where t.day between first_day and last_day and (of_project is null or t.project_id = of_project))
  select p.project_id, p.day, p.tenant_id, sum(vcpu), sum(memory), sum(disk), sum(ip), sum(received), sum(sent)
    from parts p group by p.project_id, p.day, p.tenant_id $function$;

CREATE OR REPLACE FUNCTION public.usage_close(late_s double precision, keep_days integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  whole_day constant int := 2147483647;
  next_day  date;
  closed    int := 0;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('usage-close', 0)) then return 0; end if;
  while closed < 31 loop
    exit when not usage_close_slice(late_s, whole_day);
    closed := closed + 1;
  end loop;
  if closed = 0 then return 0; end if;
  select day + 1 into next_day from usage_closed;
  -- Deletes spans a day later, because usage_follow reads the end of a resource's last span.
  delete from usage_span where ended_at < (next_day - 1)::timestamp at time zone 'UTC';
  delete from usage_traffic where day < next_day;
  delete from usage_counter c where not exists (select from instance i where i.id = c.instance_id);
  delete from usage_day where day < next_day - keep_days;
  return closed;
end $function$;

CREATE OR REPLACE FUNCTION public.usage_close_slice(late_s double precision, rows_max integer)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  done          usage_closed;
  next_day      date;
  low           timestamptz;
  high          timestamptz;
  last_span     bigint;
  last_instance uuid;
  added         bigint;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('usage-close', 0)) then return false; end if;
  select * into done from usage_closed;
  next_day := done.day + 1;
  low := next_day::timestamp at time zone 'UTC';
  high := (next_day + 1)::timestamp at time zone 'UTC';
  if high + make_interval(secs => late_s) > berth_now() then return false; end if;
  with spans as materialized (
    select * from usage_span where id > done.span_id order by id limit rows_max),
  traffic as materialized (
    select * from usage_traffic where day = next_day and instance_id > done.instance_id
     order by instance_id limit rows_max - (select count(*) from spans)),
  parts as (
    select s.project_id, s.tenant_id, s.vcpus * seconds as vcpu, s.memory_bytes * seconds as memory,
           s.disk_bytes * seconds as disk, s.floating_ips * seconds as ip, 0 as received, 0 as sent
      from spans s, lateral (
        select extract(epoch from least(s.ended_at, high) - greatest(s.began_at, low)) as seconds) l
     where s.began_at < high and coalesce(s.ended_at, high) > low
    union all
    select t.project_id, t.tenant_id, 0, 0, 0, 0, t.network_in_bytes, t.network_out_bytes from traffic t),
  stored as (
    insert into usage_day as d (project_id, day, tenant_id, vcpu_seconds, memory_byte_seconds, disk_byte_seconds,
                                floating_ip_seconds, network_in_bytes, network_out_bytes)
      select p.project_id, next_day, p.tenant_id, sum(vcpu), sum(memory), sum(disk), sum(ip), sum(received), sum(sent)
        from parts p group by p.project_id, p.tenant_id
      on conflict (project_id, day) do update
        set vcpu_seconds = d.vcpu_seconds + excluded.vcpu_seconds,
            memory_byte_seconds = d.memory_byte_seconds + excluded.memory_byte_seconds,
            disk_byte_seconds = d.disk_byte_seconds + excluded.disk_byte_seconds,
            floating_ip_seconds = d.floating_ip_seconds + excluded.floating_ip_seconds,
            network_in_bytes = d.network_in_bytes + excluded.network_in_bytes,
            network_out_bytes = d.network_out_bytes + excluded.network_out_bytes)
  select (select max(id) from spans), (select instance_id from traffic order by instance_id desc limit 1),
         (select count(*) from spans) + (select count(*) from traffic)
    into last_span, last_instance, added;
  if added < rows_max then
    update usage_closed set day = next_day, span_id = default, instance_id = default;
  else
    update usage_closed
       set span_id = coalesce(last_span, span_id), instance_id = coalesce(last_instance, instance_id);
  end if;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION public.usage_follow()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  pass_at  timestamptz := berth_now();
  last_end timestamptz;
begin
  -- A new row has no earlier span.
  if tg_op <> 'INSERT' then
    select max(ended_at) into last_end from usage_span where resource = tg_table_name and resource_id = old.id;
    update usage_span set ended_at = greatest(began_at, pass_at)
     where resource = tg_table_name and resource_id = old.id and ended_at is null
     returning ended_at into pass_at;
  end if;
  if tg_op = 'DELETE' then return null; end if;
  last_end := greatest(coalesce(pass_at, berth_now()), last_end);
  case tg_table_name
  when 'instance' then
    if new.state in ('running', 'stopping') then
      insert into usage_span
          (tenant_id, project_id, resource, resource_id, vcpus, memory_bytes, disk_bytes, floating_ips, began_at)
        values (new.tenant_id, new.project_id, 'instance', new.id, new.cpu, new.memory_bytes, 0, 0, last_end);
    end if;
  when 'disk' then
    insert into usage_span
        (tenant_id, project_id, resource, resource_id, vcpus, memory_bytes, disk_bytes, floating_ips, began_at)
      values (new.tenant_id, new.project_id, 'disk', new.id, 0, 0, new.size_bytes, 0, last_end);
  when 'floating_ip' then
    insert into usage_span
        (tenant_id, project_id, resource, resource_id, vcpus, memory_bytes, disk_bytes, floating_ips, began_at)
      values (new.tenant_id, new.project_id, 'floating_ip', new.id, 0, 0, 0, 1, last_end);
  end case;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.user_data_is_sealed()
 RETURNS text
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'user data is sealed: ask a server of a later release';
end $function$;

CREATE OR REPLACE FUNCTION public.webhook_count()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'INSERT' then
    perform from webhook_queue where webhook_id in (select a.webhook_id from added a where a.state = 'pending')
      order by webhook_id for no key update;
    update webhook_queue q set waiting = q.waiting + a.deliveries
      from (select webhook_id, count(*) as deliveries from added where state = 'pending' group by webhook_id) a
     where q.webhook_id = a.webhook_id;
  else
    update webhook_queue set waiting = waiting + case new.state when 'pending' then 1 else -1 end
     where webhook_id = new.webhook_id;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.webhook_due(of_webhook uuid)
 RETURNS timestamp with time zone
 LANGUAGE sql
AS $function$
  select q.paused_until from webhook_queue q join webhook w on w.id = q.webhook_id
   where q.webhook_id = of_webhook and w.enabled and q.paused_until > berth_now()
     and exists (select from webhook_delivery d where d.webhook_id = w.id and d.state = 'pending') $function$;

CREATE OR REPLACE FUNCTION public.webhook_follow(events_max integer, pending_max integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  from_seq bigint;
  head_seq bigint;
  to_seq   bigint;
  filled   uuid[];
  switched uuid[];
begin
  if not pg_try_advisory_xact_lock(hashtextextended('webhook-follow', 0)) then return 0; end if;
  select c.seq, h.seq into from_seq, head_seq from webhook_cursor c, audit_head h;
  if from_seq >= head_seq then return 0; end if;
  if not exists (select from webhook) then
    -- Without a webhook there is nothing to deliver, so the cursor need not move with each event.
    if head_seq - from_seq >= events_max then update webhook_cursor set seq = head_seq; end if;
    return 0;
  end if;
  to_seq := least(from_seq + events_max, head_seq);
  with event as (
    select e.seq, e.canonical::jsonb as audit from audit_event e where e.seq > from_seq and e.seq <= to_seq),
  of_project as (
    select seq, audit, coalesce(audit->'payload'->>'project_id',
                                substring(audit->>'resource' from '^Project::"([0-9a-f-]{36})"$'))::uuid as project_id
      from event
     where audit->>'decision' = 'allow' and audit->>'action' not in ('webhook_test', 'webhook_redeliver')),
  setting as (
    select substring(audit->>'resource' from '^Webhook::"([0-9a-f-]{36})"$')::uuid as webhook_id, seq,
           (audit->'payload'->>'enabled')::boolean as enabled, audit->>'action' = 'webhook_create' as creates
      from of_project where audit->>'action' in ('webhook_create', 'webhook_update')),
  wanted as (
    select o.seq, o.audit, w.id as webhook_id, w.tenant_id, w.project_id,
           q.waiting + row_number() over (partition by w.id order by o.seq) > pending_max as is_full
      from of_project o join webhook w on w.project_id = o.project_id join webhook_queue q on q.webhook_id = w.id
      left join setting s on s.webhook_id = w.id and s.seq = o.seq
      cross join lateral (
        select coalesce((select b.enabled from setting b where b.webhook_id = w.id and b.seq < o.seq
                          order by b.seq desc limit 1), q.enabled) as was_enabled) b
     where (o.audit->>'ts')::timestamptz >= w.created_at
       -- The event that disables a webhook is sent, and so is the event that enables it.
       and (coalesce(s.enabled, false) or was_enabled and s.creates is not true)
       and (w.events = '{}' or exists (
         select from unnest(w.events) p(pattern)
          where case when p.pattern like '%*' then starts_with(o.audit->>'action', left(p.pattern, -1))
                     else o.audit->>'action' = p.pattern end))),
  made as (
    insert into webhook_delivery (webhook_id, type, event, state, last_reason, ended_at)
      select w.webhook_id, w.audit->>'action',
             jsonb_build_object('time', w.audit->'ts', 'tenant_id', w.tenant_id, 'project_id', w.project_id,
                                'resource', w.audit->'resource', 'actor', w.audit->'actor',
                                'request_id', w.audit->'request_id', 'data', w.audit->'payload'),
             case when is_full then 'dead' else 'pending' end,
             case when is_full then format('%s deliveries were waiting', pending_max) end,
             case when is_full then berth_now() end
        from wanted w
       order by w.seq
    returning webhook_id, state)
  select (select array_agg(distinct webhook_id) from made where state = 'pending'),
         (select array_agg(webhook_id)
            from (select distinct on (webhook_id) webhook_id, enabled from setting order by webhook_id, seq desc) l
            join webhook_queue q using (webhook_id) where q.enabled <> l.enabled)
    into filled, switched;
  -- Locks the rows before it reads due_at. A process that records an attempt also locks the row, and sets due_at to
  -- null if it sees no waiting delivery. It may not see the deliveries that this call has created above, so this call
  -- must wait for its commit. The lock is not `for update`, because each insert of a delivery locks the row `for key
  -- share`, for the foreign key. With `for update`, two transactions that have inserted deliveries of one webhook would
  -- wait for each other.
  perform from webhook_queue where webhook_id = any(filled || switched) order by webhook_id for no key update;
  update webhook_queue set due_at = berth_now() where webhook_id = any(filled) and due_at is null;
  update webhook_queue set enabled = not enabled where webhook_id = any(switched);
  update webhook_cursor set seq = to_seq;
  return (to_seq - from_seq)::int;
end $function$;

CREATE OR REPLACE FUNCTION public.webhook_next(of_webhook uuid, of_claim uuid)
 RETURNS TABLE(webhook_id uuid, claim uuid, tenant_id uuid, url text, sealed_secret text, delivery_id uuid, type text, event jsonb, attempts integer)
 LANGUAGE sql
AS $function$
  select w.id, of_claim, w.tenant_id, w.url, w.sealed_secret, d.id, d.type, d.event, d.attempts
    from webhook w
    join webhook_queue q on q.webhook_id = w.id
    cross join lateral (
      (select 1 as place, e.* from webhook_delivery e
        where e.webhook_id = w.id and e.state = 'pending' and e.type <> 'webhook_test'
          and (q.paused_until is null or q.paused_until <= berth_now())
        order by e.number limit 1)
      union all
      (select 2, t.* from webhook_delivery t
        where t.webhook_id = w.id and t.state = 'pending' and t.type = 'webhook_test'
        order by t.number limit 1)
      order by place limit 1) d
   where w.id = of_webhook and w.enabled $function$;

CREATE OR REPLACE FUNCTION public.webhook_record(of_webhook uuid, of_claim uuid, of_delivery uuid, status integer, reason text, pause_s double precision, retry_s double precision, lease_s double precision, continues boolean)
 RETURNS SETOF record
 LANGUAGE plpgsql
AS $function$
declare
  pass_at  constant timestamptz := berth_now();
  began_by constant timestamptz := pass_at - make_interval(secs => retry_s);
  sent     record;
  found_   record;
begin
  perform from webhook_queue where webhook_id = of_webhook and claim = of_claim for no key update;
  if not found then return; end if;
  update webhook_delivery
     set attempts = attempts + 1, last_status = status, last_reason = reason, attempted_at = pass_at,
         state = case when reason is null then 'delivered'
                      when type = 'webhook_test' or begun_at <= began_by then 'dead' else state end,
         ended_at = case when reason is null or type = 'webhook_test' or begun_at <= began_by then pass_at end
   where id = of_delivery and state = 'pending'
  returning type, state into sent;
  if sent.type <> 'webhook_test' then
    update webhook_queue
       set paused_until = case when sent.state <> 'delivered' then pass_at + make_interval(secs => pause_s) end
     where webhook_id = of_webhook;
  end if;
  select * into found_ from webhook_next(of_webhook, of_claim);
  if not found then
    update webhook_queue set claim = null, (due_at, paused_until) = (select d, d from webhook_due(of_webhook) d)
     where webhook_id = of_webhook;
  elsif continues then
    update webhook_queue set due_at = pass_at + make_interval(secs => lease_s) where webhook_id = of_webhook;
    return next found_;
  else
    update webhook_queue set claim = null, due_at = pass_at where webhook_id = of_webhook;
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.webhook_take(lease_s double precision, rows_max integer, each_max integer, busy uuid[])
 RETURNS SETOF record
 LANGUAGE plpgsql
AS $function$
declare
  taken  webhook_queue;
  found_ record;
begin
  for taken in
    select q.* from webhook_queue q
     where q.due_at <= berth_now() and q.webhook_id in (
       select d.webhook_id from (
         select w.webhook_id, w.due_at, row_number() over (partition by w.tenant_id order by w.due_at)
                  + (select count(*) from unnest(busy) b(tenant_id) where b.tenant_id = w.tenant_id) as place
           from webhook_queue w where w.due_at <= berth_now()) d
        where d.place <= each_max order by d.due_at limit rows_max)
     order by q.webhook_id for no key update skip locked
  loop
    select * into found_ from webhook_next(taken.webhook_id, gen_random_uuid());
    if found then
      update webhook_queue set claim = found_.claim, due_at = berth_now() + make_interval(secs => lease_s)
       where webhook_id = taken.webhook_id;
      return next found_;
    else
      update webhook_queue
         set claim = null, (due_at, paused_until) = (select d, d from webhook_due(taken.webhook_id) d)
       where webhook_id = taken.webhook_id;
    end if;
  end loop;
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

create table audit_segment (
  number integer not null,
  first_seq bigint not null,
  last_seq bigint not null,
  prev_hash text not null,
  last_hash text not null,
  sha256 text not null,
  public_key text not null,
  signature text not null,
  archived_at timestamp with time zone default berth_now() not null,
  content bytea not null,
  constraint audit_segment_check CHECK ((last_seq >= first_seq)),
  constraint audit_segment_first_seq_key UNIQUE (first_seq),
  constraint audit_segment_last_hash_check CHECK ((last_hash ~ '^[0-9a-f]{64}$'::text)),
  constraint audit_segment_last_seq_key UNIQUE (last_seq),
  constraint audit_segment_number_check CHECK ((number >= 0)),
  constraint audit_segment_pkey PRIMARY KEY (number),
  constraint audit_segment_prev_hash_check CHECK ((prev_hash ~ '^[0-9a-f]{64}$'::text)),
  constraint audit_segment_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))
);

create table boot_client (
  mac text not null,
  arch integer,
  vendor_class text,
  user_class text,
  guid text,
  has_boot_file boolean not null,
  seen_at timestamp with time zone not null,
  seen_by text not null,
  relay inet,
  constraint boot_client_arch_check CHECK (((arch >= 0) AND (arch <= 65535))),
  constraint boot_client_guid_check CHECK ((guid ~ '^[0-9a-f]{32}$'::text)),
  constraint boot_client_pkey PRIMARY KEY (mac)
) with (fillfactor=50);

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
  rack_networks jsonb default '[]'::jsonb not null,
  label_arguments jsonb default '[]'::jsonb not null,
  constraint boot_policy_id_check CHECK ((id = 'site'::text)),
  constraint boot_policy_label_arguments_check CHECK ((jsonb_typeof(label_arguments) = 'array'::text)),
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
  kernel_args jsonb default '[]'::jsonb not null,
  console jsonb,
  constraint boot_record_address UNIQUE (address),
  constraint boot_record_check CHECK (((state <> 'enrolled'::text) OR ((server_uuid IS NOT NULL) AND (assigned_pi IS NOT NULL)))),
  constraint boot_record_check1 CHECK (((address IS NULL) = (networking IS NULL))),
  constraint boot_record_kernel_args_check CHECK ((jsonb_typeof(kernel_args) = 'array'::text)),
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
  underlay_address inet,
  underlay_mtu integer,
  underlay_address_set inet,
  underlay_mtu_set integer,
  setup_delivery jsonb,
  constraint cn_check CHECK (((claim_code IS NULL) = (claim_code_expires_at IS NULL))),
  constraint cn_check1 CHECK (((claim_code IS NULL) OR (state = 'pending'::text))),
  constraint cn_check2 CHECK (((state <> 'approved'::text) OR (bound_api_key_id IS NOT NULL))),
  constraint cn_console_listen_port_check CHECK (((console_listen_port >= 1) AND (console_listen_port <= 65535))),
  constraint cn_pkey PRIMARY KEY (server_uuid),
  constraint cn_role_check CHECK ((role = ANY (ARRAY['tenant'::text, 'edge'::text, 'both'::text]))),
  constraint cn_setup_delivery_check CHECK ((jsonb_typeof(setup_delivery) = 'object'::text)),
  constraint cn_setup_run CHECK (((state = 'setting_up'::text) = (setup_epoch IS NOT NULL))),
  constraint cn_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'approved'::text, 'disabled'::text, 'awaiting_setup'::text, 'setting_up'::text]))),
  constraint cn_underlay_address_check CHECK ((family(underlay_address) = 4)),
  constraint cn_underlay_address_set_check CHECK ((family(underlay_address_set) = 4)),
  constraint cn_underlay_mtu_check CHECK (((underlay_mtu >= 1280) AND (underlay_mtu <= 9216))),
  constraint cn_underlay_mtu_set_check CHECK (((underlay_mtu_set >= 1280) AND (underlay_mtu_set <= 9216))),
  constraint cn_unproven CHECK (((NOT unproven) OR (state = 'pending'::text))),
  constraint cn_version_check CHECK ((version > 0))
) with (fillfactor=50);

create table cn_capacity (
  server_uuid uuid not null,
  report jsonb not null,
  reported_at timestamp with time zone not null,
  constraint cn_capacity_pkey PRIMARY KEY (server_uuid)
) with (fillfactor=50);

create table cn_hardware (
  server_uuid uuid not null,
  hardware jsonb not null,
  read_at timestamp with time zone not null,
  read_by text not null,
  constraint cn_hardware_hardware_check CHECK ((jsonb_typeof(hardware) = 'object'::text)),
  constraint cn_hardware_pkey PRIMARY KEY (server_uuid)
);

create table cn_load_fleet (
  hour timestamp with time zone not null,
  cpu_mean double precision,
  cpu_max double precision not null,
  nodes integer not null,
  constraint cn_load_fleet_nodes_check CHECK ((nodes > 0)),
  constraint cn_load_fleet_pkey PRIMARY KEY (hour)
);

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
  bridge text,
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
  labels jsonb default '{}'::jsonb not null,
  constraint cn_placement_check CHECK ((reserved OR (reserved_reason IS NULL))),
  constraint cn_placement_check1 CHECK ((cordoned OR (cordoned_reason IS NULL))),
  constraint cn_placement_labels_check CHECK ((jsonb_typeof(labels) = 'object'::text)),
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
  agent_version text,
  constraint cn_signal_pkey PRIMARY KEY (server_uuid)
) with (fillfactor=50);

create table cn_tenant_usage (
  server_uuid uuid not null,
  tenant_id uuid not null,
  instances bigint default 0 not null,
  constraint cn_tenant_usage_instances_check CHECK ((instances >= 0)),
  constraint cn_tenant_usage_pkey PRIMARY KEY (server_uuid, tenant_id)
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
  constraint console_session_mode_check CHECK ((mode = ANY (ARRAY['write'::text, 'watch'::text, 'log'::text, 'screenshot'::text]))),
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
  attached boolean default true not null,
  source_disk_id uuid,
  consistency text,
  labels jsonb default '{}'::jsonb not null,
  constraint disk_attached CHECK (
CASE kind
    WHEN 'boot'::text THEN attached
    WHEN 'snapshot'::text THEN (NOT attached)
    ELSE true
END),
  constraint disk_check CHECK ((applied_bytes <= size_bytes)),
  constraint disk_consistency CHECK (((consistency IS NULL) OR (kind = 'snapshot'::text))),
  constraint disk_consistency_check CHECK ((consistency = ANY (ARRAY['at_rest'::text, 'frozen'::text, 'crash'::text]))),
  constraint disk_kind_check CHECK ((kind = ANY (ARRAY['boot'::text, 'data'::text, 'snapshot'::text]))),
  constraint disk_labels_check CHECK ((jsonb_typeof(labels) = 'object'::text)),
  constraint disk_name UNIQUE (instance_id, name),
  constraint disk_of_snapshot CHECK (((kind = 'snapshot'::text) = (source_disk_id IS NOT NULL))),
  constraint disk_pkey PRIMARY KEY (id),
  constraint disk_size_bytes_check CHECK ((size_bytes > 0))
);

create table ended_vpc (
  vpc_id uuid not null,
  vni integer not null,
  project_id uuid,
  constraint ended_vpc_pkey PRIMARY KEY (vpc_id)
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
  underlay_address inet,
  underlay_mtu integer,
  constraint enrolment_claim_console_listen_port_check CHECK (((console_listen_port >= 1) AND (console_listen_port <= 65535))),
  constraint enrolment_claim_pkey PRIMARY KEY (id),
  constraint enrolment_claim_state_check CHECK ((state = 'live'::text)),
  constraint enrolment_claim_underlay_address_check CHECK ((family(underlay_address) = 4)),
  constraint enrolment_claim_underlay_mtu_check CHECK (((underlay_mtu >= 1280) AND (underlay_mtu <= 9216))),
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
  gateway_ipv4 inet,
  gateway_ipv6 inet,
  constraint external_subnet_check CHECK ((provision_start_ipv4 << (ipv4_block)::inet)),
  constraint external_subnet_check1 CHECK ((provision_end_ipv4 << (ipv4_block)::inet)),
  constraint external_subnet_check2 CHECK ((provision_start_ipv6 << (ipv6_block)::inet)),
  constraint external_subnet_check3 CHECK ((provision_end_ipv6 << (ipv6_block)::inet)),
  constraint external_subnet_check4 CHECK (((ipv4_block IS NOT NULL) OR (ipv6_block IS NOT NULL))),
  constraint external_subnet_check5 CHECK ((num_nulls(ipv4_block, provision_start_ipv4, provision_end_ipv4) = ANY (ARRAY[0, 3]))),
  constraint external_subnet_check6 CHECK ((num_nulls(ipv6_block, provision_start_ipv6, provision_end_ipv6) = ANY (ARRAY[0, 3]))),
  constraint external_subnet_check7 CHECK (((provision_start_ipv4 <= provision_end_ipv4) AND (provision_start_ipv6 <= provision_end_ipv6))),
  constraint external_subnet_check8 CHECK ((gateway_ipv4 << (ipv4_block)::inet)),
  constraint external_subnet_check9 CHECK ((gateway_ipv6 << (ipv6_block)::inet)),
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
  labels jsonb default '{}'::jsonb not null,
  constraint firewall_rule_action_check CHECK ((action = ANY (ARRAY['allow'::text, 'deny'::text]))),
  constraint firewall_rule_check CHECK ((family((source_cidr)::inet) = family((destination_cidr)::inet))),
  constraint firewall_rule_check1 CHECK (((protocol = ANY (ARRAY['tcp'::text, 'udp'::text])) OR ((source_ports IS NULL) AND (destination_ports IS NULL)))),
  constraint firewall_rule_check2 CHECK (((protocol = ANY (ARRAY['icmp4'::text, 'icmp6'::text])) OR (icmp_type_code IS NULL))),
  constraint firewall_rule_destination_ports_check CHECK ((((destination_ports -> 'low'::text))::integer <= ((destination_ports -> 'high'::text))::integer)),
  constraint firewall_rule_direction_check CHECK ((direction = ANY (ARRAY['inbound'::text, 'outbound'::text]))),
  constraint firewall_rule_labels_check CHECK ((jsonb_typeof(labels) = 'object'::text)),
  constraint firewall_rule_name UNIQUE (vpc_id, name),
  constraint firewall_rule_pkey PRIMARY KEY (id),
  constraint firewall_rule_priority_check CHECK (((priority >= 0) AND (priority <= 65535))),
  constraint firewall_rule_protocol_check CHECK ((protocol = ANY (ARRAY['any'::text, 'tcp'::text, 'udp'::text, 'icmp4'::text, 'icmp6'::text]))),
  constraint firewall_rule_source_ports_check CHECK ((((source_ports -> 'low'::text))::integer <= ((source_ports -> 'high'::text))::integer)),
  constraint firewall_rule_state_check CHECK ((state = 'live'::text)),
  constraint firewall_rule_version_check CHECK ((version > 0))
);

create table firewall_rule_count (
  rule_id uuid not null,
  server_uuid uuid not null,
  packets bigint not null,
  bytes bigint not null,
  counted_at timestamp with time zone not null,
  constraint firewall_rule_count_bytes_check CHECK ((bytes >= 0)),
  constraint firewall_rule_count_packets_check CHECK ((packets >= 0)),
  constraint firewall_rule_count_pkey PRIMARY KEY (rule_id, server_uuid)
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
  labels jsonb default '{}'::jsonb not null,
  constraint floating_ip_address UNIQUE (id, address),
  constraint floating_ip_at_rest CHECK (((operation_id IS NOT NULL) OR (num_nulls(prior_cn, reclaimed_as) = 2))),
  constraint floating_ip_bound_whole CHECK ((num_nulls(attached_to, attached_instance_id, hosted_cn) = ANY (ARRAY[0, 3]))),
  constraint floating_ip_check CHECK ((family(address) =
CASE family
    WHEN 'v4'::text THEN 4
    ELSE 6
END)),
  constraint floating_ip_check1 CHECK (((network_id IS NULL) = (external_nic_tag IS NULL))),
  constraint floating_ip_family_check CHECK ((family = ANY (ARRAY['v4'::text, 'v6'::text]))),
  constraint floating_ip_generation_check CHECK ((generation >= 0)),
  constraint floating_ip_labels_check CHECK ((jsonb_typeof(labels) = 'object'::text)),
  constraint floating_ip_name UNIQUE (project_id, name),
  constraint floating_ip_operation_kind_check CHECK ((operation_kind = ANY (ARRAY['attach'::text, 'detach'::text]))),
  constraint floating_ip_operation_whole CHECK (((operation_id IS NULL) = (operation_kind IS NULL))),
  constraint floating_ip_pkey PRIMARY KEY (id),
  constraint floating_ip_prior_whole CHECK (((num_nulls(prior_nic_id, prior_instance_id) = ANY (ARRAY[0, 2])) AND ((prior_nic_id IS NULL) OR (prior_cn IS NOT NULL)))),
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
  labels jsonb default '{}'::jsonb not null,
  constraint image_content_bytes_check CHECK ((content_bytes > 0)),
  constraint image_labels_check CHECK ((jsonb_typeof(labels) = 'object'::text)),
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
  labels jsonb default '{}'::jsonb not null,
  operation_id uuid,
  sha256 text,
  constraint image_upload_check CHECK (((received_bytes >= 0) AND (received_bytes <= size_bytes))),
  constraint image_upload_digest CHECK (((sha256 IS NULL) OR ((operation_id IS NOT NULL) AND (received_bytes = size_bytes)))),
  constraint image_upload_labels_check CHECK ((jsonb_typeof(labels) = 'object'::text)),
  constraint image_upload_of_operation CHECK (((project_id IS NULL) = (operation_id IS NULL))),
  constraint image_upload_pkey PRIMARY KEY (id),
  constraint image_upload_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text)),
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
  labels jsonb default '{}'::jsonb not null,
  deletion_protection boolean default false not null,
  placement_group_id uuid,
  constraint instance_brand_check CHECK ((brand = ANY (ARRAY['kvm'::text, 'bhyve'::text, 'lx'::text, 'native-minimal'::text, 'not-applicable'::text]))),
  constraint instance_check CHECK (((operation_id IS NULL) = (operation_kind IS NULL))),
  constraint instance_check1 CHECK (((operation_id IS NOT NULL) OR ((unwinding_as IS NULL) AND (NOT job_begun)))),
  constraint instance_check2 CHECK (((state <> 'failed'::text) OR (reason IS NOT NULL))),
  constraint instance_check3 CHECK (((state <> ALL (ARRAY['pending'::text, 'stopping'::text])) OR (operation_id IS NOT NULL))),
  constraint instance_cpu_check CHECK ((cpu > 0)),
  constraint instance_labels_check CHECK ((jsonb_typeof(labels) = 'object'::text)),
  constraint instance_memory_bytes_check CHECK ((memory_bytes > 0)),
  constraint instance_missed_reports_check CHECK (((missed_reports >= 0) AND (missed_reports <= 2))),
  constraint instance_name UNIQUE (project_id, name),
  constraint instance_operation_kind_check CHECK ((operation_kind = ANY (ARRAY['create'::text, 'start'::text, 'stop'::text, 'restart'::text, 'reset'::text, 'retry'::text, 'delete'::text, 'create_disk'::text, 'attach_disk'::text, 'detach_disk'::text, 'delete_disk'::text, 'create_snapshot'::text, 'delete_snapshot'::text, 'create_image'::text, 'migrate'::text, 'rebuild'::text]))),
  constraint instance_owner UNIQUE (id, tenant_id, project_id),
  constraint instance_pkey PRIMARY KEY (id),
  constraint instance_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'provisioning'::text, 'running'::text, 'stopping'::text, 'stopped'::text, 'failed'::text]))),
  constraint instance_version_check CHECK ((version > 0))
);

create table instance_load (
  instance_id uuid not null,
  step text not null,
  at timestamp with time zone not null,
  cpu double precision,
  cpu_max double precision,
  memory_bytes bigint not null,
  disk_read_bytes_per_s double precision,
  disk_written_bytes_per_s double precision,
  network_received_bytes_per_s double precision,
  network_sent_bytes_per_s double precision,
  simulated boolean not null,
  constraint instance_load_cpu_check CHECK ((cpu >= (0)::double precision)),
  constraint instance_load_cpu_max_check CHECK ((cpu_max >= (0)::double precision)),
  constraint instance_load_disk_read_bytes_per_s_check CHECK ((disk_read_bytes_per_s >= (0)::double precision)),
  constraint instance_load_disk_written_bytes_per_s_check CHECK ((disk_written_bytes_per_s >= (0)::double precision)),
  constraint instance_load_memory_bytes_check CHECK ((memory_bytes >= 0)),
  constraint instance_load_network_received_bytes_per_s_check CHECK ((network_received_bytes_per_s >= (0)::double precision)),
  constraint instance_load_network_sent_bytes_per_s_check CHECK ((network_sent_bytes_per_s >= (0)::double precision)),
  constraint instance_load_pkey PRIMARY KEY (instance_id, step, at),
  constraint instance_load_step_check CHECK ((step = ANY (ARRAY['minute'::text, 'hour'::text])))
);

create table instance_load_done (
  step text not null,
  at timestamp with time zone not null,
  part_of timestamp with time zone,
  part_after uuid,
  constraint instance_load_done_pkey PRIMARY KEY (step)
);

create table instance_metrics (
  instance_id uuid not null,
  at timestamp with time zone not null,
  cpu_seconds double precision not null,
  memory_bytes bigint not null,
  disk_read_bytes bigint not null,
  disk_written_bytes bigint not null,
  network_received_bytes bigint not null,
  network_sent_bytes bigint not null,
  simulated boolean default false not null,
  constraint instance_metrics_cpu_seconds_check CHECK ((cpu_seconds >= (0)::double precision)),
  constraint instance_metrics_disk_read_bytes_check CHECK ((disk_read_bytes >= 0)),
  constraint instance_metrics_disk_written_bytes_check CHECK ((disk_written_bytes >= 0)),
  constraint instance_metrics_memory_bytes_check CHECK ((memory_bytes >= 0)),
  constraint instance_metrics_network_received_bytes_check CHECK ((network_received_bytes >= 0)),
  constraint instance_metrics_network_sent_bytes_check CHECK ((network_sent_bytes >= 0)),
  constraint instance_metrics_pkey PRIMARY KEY (instance_id, at)
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

create table log_retention (
  only_row boolean default true not null,
  dropped_before timestamp with time zone,
  next_id bigint default 0 not null,
  constraint log_retention_only_row_check CHECK (only_row),
  constraint log_retention_pkey PRIMARY KEY (only_row)
);

create table migration (
  id uuid not null,
  state text not null,
  source_cn uuid not null,
  target_cn uuid not null,
  instance_id uuid,
  live boolean,
  created_at timestamp with time zone,
  ended_at timestamp with time zone,
  reason text,
  send_job_id uuid,
  activate_job_id uuid,
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
  host_cn_uuid uuid,
  leaving_cn_uuid uuid,
  left_at timestamp with time zone,
  labels jsonb default '{}'::jsonb not null,
  network_id uuid,
  external_nic_tag text,
  pool_id text,
  constraint nat_gateway_address UNIQUE (id, public_address),
  constraint nat_gateway_check CHECK ((family(public_address) =
CASE family
    WHEN 'v4'::text THEN 4
    ELSE 6
END)),
  constraint nat_gateway_desired_generation_check CHECK ((desired_generation > 0)),
  constraint nat_gateway_family_check CHECK ((family = ANY (ARRAY['v4'::text, 'v6'::text]))),
  constraint nat_gateway_in_vpc UNIQUE (id, vpc_id),
  constraint nat_gateway_labels_check CHECK ((jsonb_typeof(labels) = 'object'::text)),
  constraint nat_gateway_leaving_whole CHECK (((leaving_cn_uuid IS NULL) = (left_at IS NULL))),
  constraint nat_gateway_name UNIQUE (vpc_id, name),
  constraint nat_gateway_network_and_pool CHECK ((num_nulls(network_id, external_nic_tag, pool_id) = ANY (ARRAY[0, 3]))),
  constraint nat_gateway_one_host CHECK (((host_cn_uuid IS NULL) OR (leaving_cn_uuid IS NULL))),
  constraint nat_gateway_pkey PRIMARY KEY (id),
  constraint nat_gateway_state_check CHECK ((state = 'live'::text)),
  constraint nat_gateway_version_check CHECK ((version > 0))
);

create table nat_gateway_count (
  nat_gateway_id uuid not null,
  server_uuid uuid not null,
  connections bigint not null,
  counted_at timestamp with time zone not null,
  constraint nat_gateway_count_connections_check CHECK ((connections >= 0)),
  constraint nat_gateway_count_pkey PRIMARY KEY (nat_gateway_id, server_uuid)
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

create table network_trace (
  id uuid not null,
  server_uuid uuid not null,
  question jsonb not null,
  asked_at timestamp with time zone default clock_timestamp() not null,
  answer jsonb,
  constraint network_trace_pkey PRIMARY KEY (id)
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
  additional_ips inet[] default '{}'::inet[] not null,
  allowed_cidrs cidr[] default '{}'::cidr[] not null,
  labels jsonb default '{}'::jsonb not null,
  constraint nic_check CHECK (((primary_ipv4 IS NOT NULL) OR (primary_ipv6 IS NOT NULL))),
  constraint nic_ipv4 UNIQUE (subnet_id, primary_ipv4),
  constraint nic_ipv6 UNIQUE (subnet_id, primary_ipv6),
  constraint nic_labels_check CHECK ((jsonb_typeof(labels) = 'object'::text)),
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

create table placement_group (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  tenant_id uuid not null,
  project_id uuid not null,
  name text not null,
  description text not null,
  labels jsonb default '{}'::jsonb not null,
  policy text not null,
  level text not null,
  strictness text not null,
  created_at timestamp with time zone not null,
  constraint placement_group_id_project_id_key UNIQUE (id, project_id),
  constraint placement_group_labels_check CHECK ((jsonb_typeof(labels) = 'object'::text)),
  constraint placement_group_level_check CHECK ((level = ANY (ARRAY['node'::text, 'fault_domain'::text]))),
  constraint placement_group_name UNIQUE (project_id, name),
  constraint placement_group_pkey PRIMARY KEY (id),
  constraint placement_group_policy_check CHECK ((policy = ANY (ARRAY['anti_affinity'::text, 'affinity'::text]))),
  constraint placement_group_state_check CHECK ((state = 'live'::text)),
  constraint placement_group_strictness_check CHECK ((strictness = ANY (ARRAY['required'::text, 'preferred'::text]))),
  constraint placement_group_version_check CHECK ((version > 0))
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
  constraint pool_range_pkey PRIMARY KEY (pool_id, high)
);

create table port_forward (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  tenant_id uuid not null,
  project_id uuid not null,
  vpc_id uuid not null,
  nat_gateway_id uuid not null,
  nic_id uuid not null,
  name text not null,
  description text not null,
  protocol text not null,
  public_port integer not null,
  nic_port integer not null,
  created_at timestamp with time zone not null,
  labels jsonb default '{}'::jsonb not null,
  constraint port_forward_labels_check CHECK ((jsonb_typeof(labels) = 'object'::text)),
  constraint port_forward_name UNIQUE (vpc_id, name),
  constraint port_forward_nic_port_check CHECK (((nic_port >= 1) AND (nic_port <= 65535))),
  constraint port_forward_pkey PRIMARY KEY (id),
  constraint port_forward_port UNIQUE (nat_gateway_id, protocol, public_port),
  constraint port_forward_protocol_check CHECK ((protocol = ANY (ARRAY['tcp'::text, 'udp'::text]))),
  constraint port_forward_public_port_check CHECK (((public_port >= 1) AND (public_port <= 65535))),
  constraint port_forward_state_check CHECK ((state = 'live'::text)),
  constraint port_forward_version_check CHECK ((version > 0))
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
  labels jsonb default '{}'::jsonb not null,
  constraint project_labels_check CHECK ((jsonb_typeof(labels) = 'object'::text)),
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

create table resting_address (
  address inet not null,
  vpc_id uuid not null,
  leaving_cn_uuid uuid not null,
  left_at timestamp with time zone not null,
  generation bigint,
  constraint resting_address_pkey PRIMARY KEY (address)
);

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
  labels jsonb default '{}'::jsonb not null,
  constraint route_check CHECK (((target_kind = 'nat_gateway'::text) = (nat_gateway_id IS NOT NULL))),
  constraint route_destination UNIQUE (route_table_id, destination),
  constraint route_labels_check CHECK ((jsonb_typeof(labels) = 'object'::text)),
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
  labels jsonb default '{}'::jsonb not null,
  constraint route_table_check CHECK (((NOT is_main) OR (name = 'main'::text))),
  constraint route_table_labels_check CHECK ((jsonb_typeof(labels) = 'object'::text)),
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

create table secret_check (
  only_row boolean default true not null,
  derived bytea not null,
  created_at timestamp with time zone default berth_now() not null,
  constraint secret_check_derived_check CHECK ((octet_length(derived) = 32)),
  constraint secret_check_only_row_check CHECK (only_row),
  constraint secret_check_pkey PRIMARY KEY (only_row)
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
  kind text default 'token'::text not null,
  api_key_id uuid,
  granted_root boolean default false not null,
  granted_scope text,
  constraint session_generation_check CHECK ((generation > 0)),
  constraint session_granted_scope_check CHECK ((granted_scope = ANY (ARRAY['full'::text, 'read_only'::text]))),
  constraint session_kind_check CHECK ((kind = ANY (ARRAY['token'::text, 'web'::text]))),
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
  labels jsonb default '{}'::jsonb not null,
  constraint ssh_key_fingerprint UNIQUE NULLS NOT DISTINCT (silo_id, tenant_id, project_id, user_id, fingerprint),
  constraint ssh_key_fingerprint_check CHECK ((fingerprint ~ '^SHA256:[A-Za-z0-9+/]{43}$'::text)),
  constraint ssh_key_labels_check CHECK ((jsonb_typeof(labels) = 'object'::text)),
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
  kinds jsonb default '{}'::jsonb not null,
  constraint staging_pkey PRIMARY KEY (staged_by),
  constraint staging_state_check CHECK ((state = 'set'::text)),
  constraint staging_version_check CHECK ((version > 0))
);

create table stored_upload (
  id uuid not null,
  unneeded_at timestamp with time zone,
  constraint stored_upload_pkey PRIMARY KEY (id)
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
  labels jsonb default '{}'::jsonb not null,
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
  constraint subnet_labels_check CHECK ((jsonb_typeof(labels) = 'object'::text)),
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

create table usage_closed (
  one boolean default true not null,
  day date not null,
  span_id bigint default 0 not null,
  instance_id uuid default '00000000-0000-0000-0000-000000000000'::uuid not null,
  constraint usage_closed_one_check CHECK (one),
  constraint usage_closed_pkey PRIMARY KEY (one)
);

create table usage_counter (
  instance_id uuid not null,
  server_uuid uuid not null,
  made_at timestamp with time zone,
  cpu_seconds double precision not null,
  network_received_bytes bigint not null,
  network_sent_bytes bigint not null,
  constraint usage_counter_pkey PRIMARY KEY (instance_id)
) with (fillfactor=50);

create table usage_day (
  project_id uuid not null,
  day date not null,
  tenant_id uuid not null,
  vcpu_seconds numeric not null,
  memory_byte_seconds numeric not null,
  disk_byte_seconds numeric not null,
  floating_ip_seconds numeric not null,
  network_in_bytes numeric not null,
  network_out_bytes numeric not null,
  constraint usage_day_pkey PRIMARY KEY (project_id, day)
);

create table usage_span (
  id bigint generated always as identity not null,
  tenant_id uuid not null,
  project_id uuid not null,
  resource text not null,
  resource_id uuid not null,
  vcpus bigint not null,
  memory_bytes bigint not null,
  disk_bytes bigint not null,
  floating_ips bigint not null,
  began_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint usage_span_check CHECK ((ended_at >= began_at)),
  constraint usage_span_disk_bytes_check CHECK ((disk_bytes >= 0)),
  constraint usage_span_floating_ips_check CHECK ((floating_ips >= 0)),
  constraint usage_span_memory_bytes_check CHECK ((memory_bytes >= 0)),
  constraint usage_span_pkey PRIMARY KEY (id),
  constraint usage_span_resource_check CHECK ((resource = ANY (ARRAY['instance'::text, 'disk'::text, 'floating_ip'::text]))),
  constraint usage_span_vcpus_check CHECK ((vcpus >= 0))
);

create table usage_traffic (
  instance_id uuid not null,
  day date not null,
  tenant_id uuid not null,
  project_id uuid not null,
  network_in_bytes bigint not null,
  network_out_bytes bigint not null,
  constraint usage_traffic_network_in_bytes_check CHECK ((network_in_bytes >= 0)),
  constraint usage_traffic_network_out_bytes_check CHECK ((network_out_bytes >= 0)),
  constraint usage_traffic_pkey PRIMARY KEY (instance_id, day)
) with (fillfactor=50);

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
  labels jsonb default '{}'::jsonb not null,
  constraint vpc_check CHECK (((ipv4_block IS NOT NULL) OR (ipv6_block IS NOT NULL))),
  constraint vpc_ipv4_block_check CHECK ((family((ipv4_block)::inet) = 4)),
  constraint vpc_ipv4_plan UNIQUE (id, ipv4_block),
  constraint vpc_ipv6_block_check CHECK ((family((ipv6_block)::inet) = 6)),
  constraint vpc_ipv6_plan UNIQUE (id, ipv6_block),
  constraint vpc_labels_check CHECK ((jsonb_typeof(labels) = 'object'::text)),
  constraint vpc_name UNIQUE (project_id, name),
  constraint vpc_owner UNIQUE (id, tenant_id, project_id),
  constraint vpc_pkey PRIMARY KEY (id),
  constraint vpc_state_check CHECK ((state = 'live'::text)),
  constraint vpc_version_check CHECK ((version > 0)),
  constraint vpc_vni UNIQUE (vni),
  constraint vpc_vni_check CHECK (((vni >= 4096) AND (vni <= 16777215)))
);

create table vpc_change (
  id bigint generated always as identity not null,
  vpc_id uuid not null,
  xid xid8 default pg_current_xact_id() not null,
  at timestamp with time zone default clock_timestamp() not null,
  constraint vpc_change_pkey PRIMARY KEY (id)
);

create table vpc_generation (
  vpc_id uuid not null,
  generation bigint not null,
  constraint vpc_generation_generation_check CHECK ((generation > 0)),
  constraint vpc_generation_pkey PRIMARY KEY (vpc_id)
);

create table vpc_realization (
  vpc_id uuid not null,
  server_uuid uuid not null,
  generation bigint default 0 not null,
  status text,
  message text,
  applied_generation bigint,
  reported_at timestamp with time zone,
  applied_until timestamp with time zone,
  constraint vpc_realization_check CHECK ((applied_generation <= generation)),
  constraint vpc_realization_pkey PRIMARY KEY (vpc_id, server_uuid),
  constraint vpc_realization_status_check CHECK ((status = ANY (ARRAY['accepted'::text, 'applied'::text, 'failed'::text])))
);

create table webhook (
  id uuid not null,
  incarnation uuid not null,
  version bigint not null,
  wake_at timestamp with time zone,
  state text not null,
  tenant_id uuid not null,
  project_id uuid not null,
  name text not null,
  description text not null,
  labels jsonb default '{}'::jsonb not null,
  url text not null,
  events text[] not null,
  enabled boolean not null,
  sealed_secret text not null,
  created_at timestamp with time zone not null,
  enabled_at timestamp with time zone,
  disabled_at timestamp with time zone,
  constraint webhook_labels_check CHECK ((jsonb_typeof(labels) = 'object'::text)),
  constraint webhook_name UNIQUE (project_id, name),
  constraint webhook_pkey PRIMARY KEY (id),
  constraint webhook_state_check CHECK ((state = 'live'::text)),
  constraint webhook_version_check CHECK ((version > 0))
);

create table webhook_cursor (
  one boolean default true not null,
  seq bigint not null,
  constraint webhook_cursor_one_check CHECK (one),
  constraint webhook_cursor_pkey PRIMARY KEY (one)
);

create table webhook_delivery (
  id uuid default gen_random_uuid() not null,
  number bigint generated always as identity not null,
  webhook_id uuid not null,
  type text not null,
  event jsonb not null,
  state text default 'pending'::text not null,
  attempts integer default 0 not null,
  last_status integer,
  last_reason text,
  created_at timestamp with time zone default berth_now() not null,
  begun_at timestamp with time zone default berth_now() not null,
  attempted_at timestamp with time zone,
  ended_at timestamp with time zone,
  constraint webhook_delivery_attempts_check CHECK ((attempts >= 0)),
  constraint webhook_delivery_check CHECK (((ended_at IS NULL) = (state = 'pending'::text))),
  constraint webhook_delivery_pkey PRIMARY KEY (id),
  constraint webhook_delivery_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'dead'::text])))
);

create table webhook_queue (
  webhook_id uuid not null,
  tenant_id uuid not null,
  due_at timestamp with time zone,
  claim uuid,
  enabled boolean default true not null,
  waiting bigint default 0 not null,
  paused_until timestamp with time zone,
  constraint webhook_queue_pkey PRIMARY KEY (webhook_id)
) with (fillfactor=50);

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
  select r.* from (
    select * from pool_range where pool_id = of_pool and high >= coalesce(low_bound, -9223372036854775808)
     order by high limit 1) r
   where r.low <= coalesce(high_bound, r.low) $function$;

alter table api_key add constraint api_key_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id);
alter table api_key add constraint api_key_user_id_fkey FOREIGN KEY (user_id) REFERENCES user_account(id);
alter table api_key_use add constraint api_key_use_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id) ON DELETE CASCADE;
alter table boot_client add constraint boot_client_mac_fkey FOREIGN KEY (mac) REFERENCES boot_record(mac) ON DELETE CASCADE;
alter table cn_capacity add constraint cn_capacity_server_uuid_fkey FOREIGN KEY (server_uuid) REFERENCES cn(server_uuid) ON DELETE CASCADE;
alter table cn_hardware add constraint cn_hardware_server_uuid_fkey FOREIGN KEY (server_uuid) REFERENCES cn(server_uuid) ON DELETE CASCADE;
alter table cn_load_hour add constraint cn_load_hour_server_uuid_fkey FOREIGN KEY (server_uuid) REFERENCES cn(server_uuid) ON DELETE CASCADE;
alter table cn_load_sample add constraint cn_load_sample_server_uuid_fkey FOREIGN KEY (server_uuid) REFERENCES cn(server_uuid) ON DELETE CASCADE;
alter table cn_load_summary add constraint cn_load_summary_server_uuid_fkey FOREIGN KEY (server_uuid) REFERENCES cn(server_uuid) ON DELETE CASCADE;
alter table cn_nic_tag add constraint cn_nic_tag_server_uuid_fkey FOREIGN KEY (server_uuid) REFERENCES cn(server_uuid) ON DELETE CASCADE;
alter table cn_signal add constraint cn_signal_server_uuid_fkey FOREIGN KEY (server_uuid) REFERENCES cn(server_uuid) ON DELETE CASCADE;
alter table cn_usage add constraint cn_usage_server_uuid_fkey FOREIGN KEY (server_uuid) REFERENCES cn(server_uuid) ON DELETE CASCADE;
alter table disk add constraint disk_instance_fkey FOREIGN KEY (instance_id, tenant_id, project_id) REFERENCES instance(id, tenant_id, project_id);
alter table enrolment_claim add constraint enrolment_claim_server_uuid_fkey FOREIGN KEY (server_uuid) REFERENCES cn(server_uuid) DEFERRABLE INITIALLY DEFERRED;
alter table external_subnet add constraint external_subnet_nic_tag FOREIGN KEY (nic_tag) REFERENCES nic_tag(name);
alter table firewall_rule add constraint firewall_rule_vpc_fkey FOREIGN KEY (vpc_id, tenant_id, project_id) REFERENCES vpc(id, tenant_id, project_id);
alter table firewall_rule_count add constraint firewall_rule_count_rule_id_fkey FOREIGN KEY (rule_id) REFERENCES firewall_rule(id) ON DELETE CASCADE;
alter table firewall_rule_count add constraint firewall_rule_count_server_uuid_fkey FOREIGN KEY (server_uuid) REFERENCES cn(server_uuid) ON DELETE CASCADE;
alter table floating_ip add constraint floating_ip_bound_to_nic FOREIGN KEY (attached_to, attached_instance_id, tenant_id, project_id) REFERENCES nic(id, instance_id, tenant_id, project_id);
alter table floating_ip add constraint floating_ip_has_address FOREIGN KEY (address) REFERENCES public_address(address) DEFERRABLE INITIALLY DEFERRED;
alter table floating_ip add constraint floating_ip_network FOREIGN KEY (network_id) REFERENCES external_subnet(id);
alter table floating_ip add constraint floating_ip_of_project FOREIGN KEY (project_id, tenant_id) REFERENCES project(id, tenant_id);
alter table floating_ip add constraint floating_ip_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES pool(id);
alter table image add constraint image_project_fkey FOREIGN KEY (project_id, tenant_id) REFERENCES project(id, tenant_id);
alter table image add constraint image_silo_fkey FOREIGN KEY (silo_id) REFERENCES silo(id);
alter table image add constraint image_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id);
alter table image_upload add constraint image_upload_project_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;
alter table image_upload add constraint image_upload_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;
alter table instance add constraint instance_image_fkey FOREIGN KEY (image_id) REFERENCES image(id);
alter table instance add constraint instance_placement_group_fkey FOREIGN KEY (placement_group_id, project_id) REFERENCES placement_group(id, project_id);
alter table instance add constraint instance_project_fkey FOREIGN KEY (project_id, tenant_id) REFERENCES project(id, tenant_id);
alter table job_signal add constraint job_signal_job_id_fkey FOREIGN KEY (job_id) REFERENCES job(id) ON DELETE CASCADE;
alter table nat_gateway add constraint nat_gateway_has_address FOREIGN KEY (public_address) REFERENCES public_address(address) DEFERRABLE INITIALLY DEFERRED;
alter table nat_gateway add constraint nat_gateway_network FOREIGN KEY (network_id) REFERENCES external_subnet(id);
alter table nat_gateway add constraint nat_gateway_of_vpc FOREIGN KEY (vpc_id, tenant_id, project_id) REFERENCES vpc(id, tenant_id, project_id);
alter table nat_gateway add constraint nat_gateway_pool FOREIGN KEY (pool_id) REFERENCES pool(id);
alter table nat_gateway_count add constraint nat_gateway_count_nat_gateway_id_fkey FOREIGN KEY (nat_gateway_id) REFERENCES nat_gateway(id) ON DELETE CASCADE;
alter table nat_gateway_count add constraint nat_gateway_count_server_uuid_fkey FOREIGN KEY (server_uuid) REFERENCES cn(server_uuid) ON DELETE CASCADE;
alter table network_pool_network add constraint network_pool_network_network_id_fkey FOREIGN KEY (network_id) REFERENCES external_subnet(id);
alter table network_pool_network add constraint network_pool_network_network_pool_id_fkey FOREIGN KEY (network_pool_id) REFERENCES network_pool(id);
alter table nic add constraint nic_instance_fkey FOREIGN KEY (instance_id, tenant_id, project_id) REFERENCES instance(id, tenant_id, project_id);
alter table nic add constraint nic_subnet_fkey FOREIGN KEY (subnet_id, vpc_id, tenant_id, project_id) REFERENCES subnet(id, vpc_id, tenant_id, project_id);
alter table placement_group add constraint placement_group_project_fkey FOREIGN KEY (project_id, tenant_id) REFERENCES project(id, tenant_id);
alter table pool_range add constraint pool_range_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES pool(id) ON DELETE CASCADE;
alter table port_forward add constraint port_forward_nat_gateway_fkey FOREIGN KEY (nat_gateway_id, vpc_id) REFERENCES nat_gateway(id, vpc_id) ON DELETE CASCADE;
alter table port_forward add constraint port_forward_nic_fkey FOREIGN KEY (nic_id) REFERENCES nic(id) ON DELETE CASCADE;
alter table port_forward add constraint port_forward_vpc_fkey FOREIGN KEY (vpc_id, tenant_id, project_id) REFERENCES vpc(id, tenant_id, project_id);
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
alter table session add constraint session_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_key(id) ON DELETE CASCADE;
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
alter table tenant add constraint tenant_silo_id_fkey FOREIGN KEY (silo_id) REFERENCES silo(id) DEFERRABLE INITIALLY DEFERRED;
alter table tenant_idp add constraint tenant_idp_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id);
alter table tenant_quota add constraint tenant_quota_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;
alter table tenant_usage add constraint tenant_usage_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;
alter table user_account add constraint user_account_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id);
alter table vpc add constraint vpc_main_route_table_fkey FOREIGN KEY (main_route_table_id, id) REFERENCES route_table(id, vpc_id) DEFERRABLE INITIALLY DEFERRED;
alter table vpc add constraint vpc_project_fkey FOREIGN KEY (project_id, tenant_id) REFERENCES project(id, tenant_id);
alter table webhook add constraint webhook_project_fkey FOREIGN KEY (project_id, tenant_id) REFERENCES project(id, tenant_id);
alter table webhook_delivery add constraint webhook_delivery_queue_fkey FOREIGN KEY (webhook_id) REFERENCES webhook_queue(webhook_id) NOT VALID;

CREATE INDEX api_key_expiring ON public.api_key USING btree (expires_at, id) WHERE ((expires_at IS NOT NULL) AND (bound_to_cn IS NULL));
CREATE INDEX api_key_of_tenant ON public.api_key USING btree (tenant_id, created_at) WHERE (tenant_id IS NOT NULL);
CREATE INDEX api_key_of_user ON public.api_key USING btree (user_id, created_at);
CREATE INDEX api_key_secret ON public.api_key USING btree (secret_sha256);
CREATE INDEX boot_client_by_guid ON public.boot_client USING btree (guid) WHERE (guid IS NOT NULL);
CREATE INDEX boot_record_by_state ON public.boot_record USING btree (state, mac);
CREATE INDEX boot_record_of_node ON public.boot_record USING btree (server_uuid) WHERE (server_uuid IS NOT NULL);
CREATE INDEX cn_by_announced_mac ON public.cn USING gin (announced_macs);
CREATE INDEX cn_by_registration ON public.cn USING btree (registered_at, server_uuid);
CREATE INDEX cn_by_state ON public.cn USING btree (state, registered_at, server_uuid);
CREATE UNIQUE INDEX cn_claim_code ON public.cn USING btree (claim_code) WHERE (claim_code IS NOT NULL);
CREATE INDEX cn_due ON public.cn USING btree (wake_at) WHERE (wake_at IS NOT NULL);
CREATE INDEX cn_in_order ON public.cn USING btree (registered_at, server_uuid);
CREATE UNIQUE INDEX cn_poll_token ON public.cn USING btree (poll_token_sha256) WHERE (poll_token_sha256 IS NOT NULL);
CREATE INDEX cn_setup_token ON public.cn USING btree (((setup_delivery ->> 'token_sha256'::text))) WHERE (setup_delivery IS NOT NULL);
CREATE UNIQUE INDEX cn_underlay_address ON public.cn USING btree (COALESCE(underlay_address_set, underlay_address)) WHERE (state <> 'pending'::text);
CREATE INDEX cn_unproven ON public.cn USING btree (server_uuid) WHERE unproven;
CREATE INDEX cn_load_hour_age ON public.cn_load_hour USING btree (hour);
CREATE INDEX cn_load_sample_age ON public.cn_load_sample USING btree (at);
CREATE INDEX console_session_calling ON public.console_session USING btree (cn) WHERE (state = ANY (ARRAY['calling'::text, 'told'::text]));
CREATE INDEX console_session_due ON public.console_session USING btree (wake_at) WHERE (wake_at IS NOT NULL);
CREATE UNIQUE INDEX console_session_ticket ON public.console_session USING btree (ticket_sha256) WHERE (state = 'ticket'::text);
CREATE INDEX denial_window_age ON public.denial_window USING btree (opened_at);
CREATE INDEX boot_disk_of_image ON public.disk USING btree (source_image_id) WHERE (kind = 'boot'::text);
CREATE UNIQUE INDEX disk_one_boot ON public.disk USING btree (instance_id) WHERE (kind = 'boot'::text);
CREATE INDEX disk_unmade ON public.disk USING btree (instance_id) WHERE ((applied_bytes IS NULL) OR (applied_bytes < size_bytes));
CREATE INDEX ended_vpc_vni ON public.ended_vpc USING btree (vni);
CREATE UNIQUE INDEX enrolment_claim_code ON public.enrolment_claim USING btree (claim_code);
CREATE INDEX enrolment_claim_due ON public.enrolment_claim USING btree (wake_at) WHERE (wake_at IS NOT NULL);
CREATE INDEX enrolment_claim_of_node ON public.enrolment_claim USING btree (server_uuid, expires_at, id);
CREATE INDEX enrolment_claim_of_source ON public.enrolment_claim USING btree (source_bucket, expires_at);
CREATE UNIQUE INDEX enrolment_claim_poll_token ON public.enrolment_claim USING btree (poll_token_sha256);
CREATE INDEX external_subnet_on_tag ON public.external_subnet USING btree (nic_tag);
CREATE INDEX firewall_rule_in_vpc ON public.firewall_rule USING btree (vpc_id, id);
CREATE INDEX firewall_rule_count_of_cn ON public.firewall_rule_count USING btree (server_uuid);
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
CREATE INDEX image_upload_of_project ON public.image_upload USING btree (project_id) WHERE (project_id IS NOT NULL);
CREATE INDEX image_upload_of_tenant ON public.image_upload USING btree (tenant_id);
CREATE INDEX instance_of_image ON public.instance USING btree (image_id) WHERE (image_id IS NOT NULL);
CREATE INDEX instance_of_placement_group ON public.instance USING btree (placement_group_id) WHERE (placement_group_id IS NOT NULL);
CREATE INDEX instance_of_project ON public.instance USING btree (project_id, id);
CREATE INDEX instance_on_cn ON public.instance USING btree (host_cn_uuid) WHERE (host_cn_uuid IS NOT NULL);
CREATE INDEX instance_on_cn_in_order ON public.instance USING btree (host_cn_uuid, id) WHERE (host_cn_uuid IS NOT NULL);
CREATE INDEX instance_load_age ON public.instance_load USING btree (step, at);
CREATE INDEX instance_metrics_age ON public.instance_metrics USING btree (at);
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
CREATE INDEX job_unusual ON public.job USING btree (state, seq DESC) WHERE (state <> 'completed'::text);
CREATE INDEX migration_begun_from_cn ON public.migration USING btree (source_cn, created_at);
CREATE INDEX migration_from_cn ON public.migration USING btree (source_cn) WHERE ((instance_id IS NOT NULL) AND (state <> ALL (ARRAY['completed'::text, 'failed'::text, 'aborted'::text])));
CREATE INDEX migration_of_instance ON public.migration USING btree (instance_id) WHERE (instance_id IS NOT NULL);
CREATE INDEX migration_to_cn ON public.migration USING btree (target_cn) WHERE ((instance_id IS NOT NULL) AND (state <> ALL (ARRAY['completed'::text, 'failed'::text, 'aborted'::text])));
CREATE INDEX nat_gateway_by_address ON public.nat_gateway USING btree (public_address);
CREATE INDEX nat_gateway_of_network ON public.nat_gateway USING btree (network_id) WHERE (network_id IS NOT NULL);
CREATE INDEX nat_gateway_of_pool ON public.nat_gateway USING btree (pool_id) WHERE (pool_id IS NOT NULL);
CREATE INDEX nat_gateway_of_vpc_in_order ON public.nat_gateway USING btree (vpc_id, id);
CREATE INDEX nat_gateway_on_cn ON public.nat_gateway USING btree (host_cn_uuid) WHERE (host_cn_uuid IS NOT NULL);
CREATE INDEX nat_gateway_to_place ON public.nat_gateway USING btree (id) WHERE (host_cn_uuid IS NULL);
CREATE INDEX nat_gateway_count_of_cn ON public.nat_gateway_count USING btree (server_uuid);
CREATE INDEX network_pool_of_network ON public.network_pool_network USING btree (network_id);
CREATE INDEX network_trace_open ON public.network_trace USING btree (server_uuid) WHERE (answer IS NULL);
CREATE INDEX nic_by_additional_ip ON public.nic USING gin (additional_ips);
CREATE INDEX nic_by_ipv4 ON public.nic USING btree (primary_ipv4) WHERE (primary_ipv4 IS NOT NULL);
CREATE INDEX nic_by_ipv6 ON public.nic USING btree (primary_ipv6) WHERE (primary_ipv6 IS NOT NULL);
CREATE INDEX nic_in_subnet ON public.nic USING btree (subnet_id, id);
CREATE INDEX nic_in_vpc ON public.nic USING btree (vpc_id, instance_id);
CREATE INDEX nic_of_project ON public.nic USING btree (project_id, id);
CREATE INDEX nic_with_additional_ips ON public.nic USING btree (subnet_id) WHERE (additional_ips <> '{}'::inet[]);
CREATE INDEX port_forward_in_vpc ON public.port_forward USING btree (vpc_id, id);
CREATE INDEX port_forward_to_nic ON public.port_forward USING btree (nic_id);
CREATE INDEX public_address_by_floating_ip ON public.public_address USING btree (floating_ip_id) WHERE (floating_ip_id IS NOT NULL);
CREATE INDEX public_address_by_nat_gateway ON public.public_address USING btree (nat_gateway_id) WHERE (nat_gateway_id IS NOT NULL);
CREATE INDEX route_in_table ON public.route USING btree (route_table_id, id);
CREATE INDEX route_in_vpc ON public.route USING btree (vpc_id);
CREATE INDEX route_to_nat_gateway ON public.route USING btree (nat_gateway_id) WHERE (nat_gateway_id IS NOT NULL);
CREATE INDEX route_table_in_vpc ON public.route_table USING btree (vpc_id, id);
CREATE UNIQUE INDEX route_table_one_main ON public.route_table USING btree (vpc_id) WHERE is_main;
CREATE INDEX saga_due ON public.saga USING btree (wake_at) WHERE (wake_at IS NOT NULL);
CREATE INDEX saga_ended ON public.saga USING btree (done_at) WHERE (done_at IS NOT NULL);
CREATE INDEX saga_newest ON public.saga USING btree (created_at DESC, id DESC);
CREATE INDEX saga_of_kind ON public.saga USING btree (saga, created_at DESC, id DESC);
CREATE INDEX saga_of_resource ON public.saga USING gin (refs jsonb_path_ops);
CREATE INDEX saga_open ON public.saga USING btree (created_at DESC, id DESC) WHERE (state = ANY (ARRAY['running'::text, 'unwinding'::text, 'stuck'::text]));
CREATE INDEX sealed_user_data_plain ON public.sealed_user_data USING btree (instance_id) WHERE (plain IS NOT NULL);
CREATE INDEX session_due ON public.session USING btree (wake_at) WHERE (wake_at IS NOT NULL);
CREATE INDEX session_of_api_key ON public.session USING btree (api_key_id) WHERE (api_key_id IS NOT NULL);
CREATE INDEX session_of_user ON public.session USING btree (user_id);
CREATE INDEX ssh_key_of_project ON public.ssh_key USING btree (project_id) WHERE (project_id IS NOT NULL);
CREATE INDEX ssh_key_of_tenant ON public.ssh_key USING btree (tenant_id) WHERE (tenant_id IS NOT NULL);
CREATE INDEX ssh_key_of_user ON public.ssh_key USING btree (user_id) WHERE (user_id IS NOT NULL);
CREATE INDEX ssh_key_public ON public.ssh_key USING btree (id) WHERE (scope_kind = 'public'::text);
CREATE INDEX subnet_in_vpc ON public.subnet USING btree (vpc_id, id);
CREATE INDEX subnet_of_route_table ON public.subnet USING btree (route_table_id);
CREATE INDEX transition_audited ON public.transition USING btree (xid, id) WHERE (audit IS NOT NULL);
CREATE INDEX transition_of_approval ON public.transition USING btree (msg_id) WHERE (event = 'approve'::text);
CREATE INDEX usage_day_in_order ON public.usage_day USING btree (day);
CREATE INDEX usage_span_ended ON public.usage_span USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX usage_span_of_project ON public.usage_span USING btree (project_id, began_at);
CREATE INDEX usage_span_of_resource ON public.usage_span USING btree (resource, resource_id, ended_at);
CREATE UNIQUE INDEX usage_span_open ON public.usage_span USING btree (resource, resource_id) WHERE (ended_at IS NULL);
CREATE INDEX usage_traffic_of_day ON public.usage_traffic USING btree (day);
CREATE INDEX usage_traffic_of_project ON public.usage_traffic USING btree (project_id, day);
CREATE UNIQUE INDEX user_local_name ON public.user_account USING btree (username) WHERE (issuer IS NULL);
CREATE UNIQUE INDEX user_of_issuer ON public.user_account USING btree (issuer, subject, tenant_id) NULLS NOT DISTINCT WHERE (issuer IS NOT NULL);
CREATE INDEX user_of_tenant ON public.user_account USING btree (tenant_id) WHERE (tenant_id IS NOT NULL);
CREATE INDEX vpc_of_project ON public.vpc USING btree (project_id, id);
CREATE INDEX vpc_change_by_xid ON public.vpc_change USING btree (xid);
CREATE INDEX vpc_change_of_vpc ON public.vpc_change USING btree (vpc_id);
CREATE INDEX vpc_realization_of_cn ON public.vpc_realization USING btree (server_uuid);
CREATE INDEX webhook_in_project ON public.webhook USING btree (project_id, id);
CREATE INDEX webhook_delivery_ended ON public.webhook_delivery USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX webhook_delivery_in_state ON public.webhook_delivery USING btree (webhook_id, state, number) WHERE (state <> 'pending'::text);
CREATE INDEX webhook_delivery_of_webhook ON public.webhook_delivery USING btree (webhook_id, number);
CREATE INDEX webhook_delivery_pending ON public.webhook_delivery USING btree (webhook_id, number) WHERE (state = 'pending'::text);
CREATE INDEX webhook_delivery_test ON public.webhook_delivery USING btree (webhook_id, number) WHERE ((state = 'pending'::text) AND (type = 'webhook_test'::text));
CREATE INDEX webhook_queue_due ON public.webhook_queue USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE TRIGGER usage_of_changed AFTER UPDATE ON public.disk FOR EACH ROW WHEN ((old.size_bytes <> new.size_bytes)) EXECUTE FUNCTION usage_follow();
CREATE TRIGGER usage_of_deleted AFTER DELETE ON public.disk FOR EACH ROW EXECUTE FUNCTION usage_follow();
CREATE TRIGGER usage_of_new AFTER INSERT ON public.disk FOR EACH ROW EXECUTE FUNCTION usage_follow();
CREATE TRIGGER usage_of_deleted AFTER DELETE ON public.floating_ip FOR EACH ROW EXECUTE FUNCTION usage_follow();
CREATE TRIGGER usage_of_new AFTER INSERT ON public.floating_ip FOR EACH ROW EXECUTE FUNCTION usage_follow();
CREATE TRIGGER stored_upload_of_new AFTER INSERT ON public.image_upload FOR EACH ROW EXECUTE FUNCTION stored_upload_add();
CREATE TRIGGER count_host_added AFTER INSERT ON public.instance FOR EACH ROW WHEN ((new.host_cn_uuid IS NOT NULL)) EXECUTE FUNCTION count_host();
CREATE TRIGGER count_host_changed AFTER UPDATE ON public.instance FOR EACH ROW WHEN ((old.host_cn_uuid IS DISTINCT FROM new.host_cn_uuid)) EXECUTE FUNCTION count_host();
CREATE TRIGGER count_host_removed AFTER DELETE ON public.instance FOR EACH ROW WHEN ((old.host_cn_uuid IS NOT NULL)) EXECUTE FUNCTION count_host();
CREATE TRIGGER usage_of_changed AFTER UPDATE ON public.instance FOR EACH ROW WHEN ((((old.state = ANY (ARRAY['running'::text, 'stopping'::text])) OR (new.state = ANY (ARRAY['running'::text, 'stopping'::text]))) AND ((old.state <> new.state) OR (old.cpu <> new.cpu) OR (old.memory_bytes <> new.memory_bytes)))) EXECUTE FUNCTION usage_follow();
CREATE TRIGGER usage_of_deleted AFTER DELETE ON public.instance FOR EACH ROW WHEN ((old.state = ANY (ARRAY['running'::text, 'stopping'::text]))) EXECUTE FUNCTION usage_follow();
CREATE TRIGGER usage_of_new AFTER INSERT ON public.instance FOR EACH ROW WHEN ((new.state = ANY (ARRAY['running'::text, 'stopping'::text]))) EXECUTE FUNCTION usage_follow();
CREATE TRIGGER job_number BEFORE INSERT ON public.job FOR EACH ROW EXECUTE FUNCTION job_number();
CREATE TRIGGER nic_mac BEFORE INSERT ON public.nic FOR EACH ROW WHEN ((new.mac IS NULL)) EXECUTE FUNCTION nic_mac();
CREATE TRIGGER webhook_count_added AFTER INSERT ON public.webhook_delivery REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION webhook_count();
CREATE TRIGGER webhook_count_changed AFTER UPDATE OF state ON public.webhook_delivery FOR EACH ROW WHEN (((old.state = 'pending'::text) <> (new.state = 'pending'::text))) EXECUTE FUNCTION webhook_count();

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
    cn.underlay_address,
    cn.underlay_mtu,
    cn.underlay_address_set,
    cn.underlay_mtu_set,
    cn.setup_delivery,
    s.last_seen,
    s.last_status,
    p.reservoir_enabled,
    p.reservoir_percent,
    COALESCE(p.traits, '{}'::jsonb) AS traits,
    jsonb_build_object('reserved', COALESCE(p.reserved, false), 'reserved_reason', p.reserved_reason, 'cordoned', COALESCE(p.cordoned, false), 'cordoned_reason', p.cordoned_reason, 'overprovision_cpu', p.overprovision_cpu, 'overprovision_ram', p.overprovision_ram, 'overprovision_disk', p.overprovision_disk, 'fault_domain', p.fault_domain, 'pinned_silo_uuid', p.pinned_silo_uuid, 'pinned_tenant_uuid', p.pinned_tenant_uuid, 'note', p.note, 'labels', COALESCE(p.labels, '{}'::jsonb)) AS placement,
    ARRAY( SELECT r.mac
           FROM boot_record r
          WHERE (r.server_uuid = cn.server_uuid)
          ORDER BY r.mac) AS bound_macs,
    ( SELECT COALESCE(jsonb_agg(jsonb_build_object('id', k.id, 'claim_code', k.claim_code, 'expires_at', k.expires_at, 'hostname', k.hostname, 'admin_ip', host(k.admin_ip), 'serial', k.serial, 'macs', k.macs, 'source', k.source, 'registration_id', k.registration_id, 'poll_token_sha256', k.poll_token_sha256) ORDER BY k.expires_at, k.id), '[]'::jsonb) AS "coalesce"
           FROM enrolment_claim k
          WHERE ((k.server_uuid = cn.server_uuid) AND (k.expires_at > ( SELECT berth_now() AS berth_now)))) AS claims,
    s.agent_version
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
    f.labels,
    s.vlan_id,
    n.vpc_id AS attached_vpc_id,
    p.vpc_id AS prior_vpc_id
   FROM (((floating_ip f
     LEFT JOIN external_subnet s ON ((s.id = f.network_id)))
     LEFT JOIN nic n ON ((n.id = f.attached_to)))
     LEFT JOIN nic p ON ((p.id = f.prior_nic_id)));

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
    i.labels,
    i.deletion_protection,
    i.placement_group_id,
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

create view vpc_node as
 SELECT n.vpc_id,
    i.host_cn_uuid AS server_uuid
   FROM (nic n
     JOIN instance i ON ((i.id = n.instance_id)))
  WHERE (i.host_cn_uuid IS NOT NULL)
UNION
 SELECT n.vpc_id,
    m.target_cn AS server_uuid
   FROM (nic n
     JOIN migration m ON ((m.instance_id = n.instance_id)))
  WHERE (m.state <> ALL (ARRAY['completed'::text, 'failed'::text, 'aborted'::text]))
UNION
 SELECT nat_gateway.vpc_id,
    nat_gateway.host_cn_uuid AS server_uuid
   FROM nat_gateway
  WHERE (nat_gateway.host_cn_uuid IS NOT NULL);

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
grant select on table audit_segment to berth_app;
grant select on table audit_segment to berth_reader;
grant delete, insert, select, update on table boot_client to berth_app;
grant select on table boot_client to berth_reader;
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
grant delete, insert, select, update on table cn_hardware to berth_app;
grant select on table cn_hardware to berth_reader;
grant delete, insert, select, update on table cn_load_fleet to berth_app;
grant select on table cn_load_fleet to berth_reader;
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
grant delete, insert, select, update on table cn_tenant_usage to berth_app;
grant select on table cn_tenant_usage to berth_reader;
grant delete, insert, select, update on table cn_usage to berth_app;
grant select on table cn_usage to berth_reader;
grant delete, insert, select, update on table console_session to berth_app;
grant select on table console_session to berth_reader;
grant delete, insert, select, update on table denial_window to berth_app;
grant select on table denial_window to berth_reader;
grant delete, insert, select, update on table disk to berth_app;
grant select on table disk to berth_reader;
grant delete, insert, select, update on table ended_vpc to berth_app;
grant select on table ended_vpc to berth_reader;
grant delete, insert, select, update on table enrolment_claim to berth_app;
grant select on table enrolment_claim to berth_reader;
grant delete, insert, select, update on table external_subnet to berth_app;
grant select on table external_subnet to berth_reader;
grant delete, insert, select, update on table failure_count to berth_app;
grant select on table failure_count to berth_reader;
grant delete, insert, select, update on table firewall_rule to berth_app;
grant select on table firewall_rule to berth_reader;
grant delete, insert, select, update on table firewall_rule_count to berth_app;
grant select on table firewall_rule_count to berth_reader;
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
grant delete, insert, select, update on table instance_load to berth_app;
grant select on table instance_load to berth_reader;
grant delete, insert, select, update on table instance_load_done to berth_app;
grant select on table instance_load_done to berth_reader;
grant delete, insert, select, update on table instance_loaded to berth_app;
grant select on table instance_loaded to berth_reader;
grant delete, insert, select, update on table instance_metrics to berth_app;
grant select on table instance_metrics to berth_reader;
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
grant select on table log_retention to berth_app;
grant select on table log_retention to berth_reader;
grant delete, insert, select, update on table migration to berth_app;
grant select on table migration to berth_reader;
grant delete, insert, select, update on table nat_gateway to berth_app;
grant select on table nat_gateway to berth_reader;
grant delete, insert, select, update on table nat_gateway_count to berth_app;
grant select on table nat_gateway_count to berth_reader;
grant delete, insert, select, update on table network_pool to berth_app;
grant select on table network_pool to berth_reader;
grant delete, insert, select, update on table network_pool_network to berth_app;
grant select on table network_pool_network to berth_reader;
grant delete, insert, select, update on table network_trace to berth_app;
grant select on table network_trace to berth_reader;
grant delete, insert, select, update on table nic to berth_app;
grant select on table nic to berth_reader;
grant delete, insert, select, update on table nic_tag to berth_app;
grant select on table nic_tag to berth_reader;
grant delete, insert, select, update on table outbox to berth_app;
grant select on table outbox to berth_reader;
grant delete, insert, select, update on table placement_group to berth_app;
grant select on table placement_group to berth_reader;
grant delete, insert, select, update on table placement_reservation to berth_app;
grant select on table placement_reservation to berth_reader;
grant delete, insert, select, update on table pool to berth_app;
grant select on table pool to berth_reader;
grant delete, insert, select, update on table pool_range to berth_app;
grant select on table pool_range to berth_reader;
grant delete, insert, select, update on table port_forward to berth_app;
grant select on table port_forward to berth_reader;
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
grant delete, insert, select, update on table resting_address to berth_app;
grant select on table resting_address to berth_reader;
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
grant insert, select on table secret_check to berth_app;
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
grant delete, insert, select, update on table stored_upload to berth_app;
grant select on table stored_upload to berth_reader;
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
grant delete, insert, select, update on table usage_closed to berth_app;
grant select on table usage_closed to berth_reader;
grant delete, insert, select, update on table usage_counter to berth_app;
grant select on table usage_counter to berth_reader;
grant delete, insert, select, update on table usage_day to berth_app;
grant select on table usage_day to berth_reader;
grant delete, insert, select, update on table usage_span to berth_app;
grant select on table usage_span to berth_reader;
grant delete, insert, select, update on table usage_traffic to berth_app;
grant select on table usage_traffic to berth_reader;
grant delete, insert, select, update on table user_account to berth_app;
grant select on table user_account to berth_reader;
grant delete, insert, select, update on table user_loaded to berth_app;
grant select on table user_loaded to berth_reader;
grant delete, insert, select, update on table vpc to berth_app;
grant select on table vpc to berth_reader;
grant delete, insert, select, update on table vpc_change to berth_app;
grant select on table vpc_change to berth_reader;
grant delete, insert, select, update on table vpc_generation to berth_app;
grant select on table vpc_generation to berth_reader;
grant delete, insert, select, update on table vpc_node to berth_app;
grant select on table vpc_node to berth_reader;
grant delete, insert, select, update on table vpc_realization to berth_app;
grant select on table vpc_realization to berth_reader;
grant delete, insert, select, update on table webhook to berth_app;
grant select on table webhook to berth_reader;
grant delete, insert, select, update on table webhook_cursor to berth_app;
grant select on table webhook_cursor to berth_reader;
grant delete, insert, select, update on table webhook_delivery to berth_app;
grant select on table webhook_delivery to berth_reader;
grant delete, insert, select, update on table webhook_queue to berth_app;
grant select on table webhook_queue to berth_reader;
grant usage on sequence job_seq to berth_app;
grant usage on sequence setup_epoch to berth_app;
grant usage on sequence transition_id_seq to berth_app;
grant usage on sequence usage_span_id_seq to berth_app;
grant usage on sequence vpc_change_id_seq to berth_app;
grant usage on sequence webhook_delivery_number_seq to berth_app;
grant execute on function audit_archive(bigint,bigint,text,text,text) to berth_app;
grant execute on function audit_denial(uuid,text,jsonb,jsonb) to berth_app;
grant execute on function berth_absent(text,text[],text[],uuid[],bigint[],text,text,text) to berth_app;
grant execute on function berth_budget_allows(budget,bigint) to berth_app;
grant execute on function berth_claim_budget(text,bigint) to berth_app;
grant execute on function berth_columns(regclass,text[],text) to berth_app;
grant execute on function berth_conditions(jsonb) to berth_app;
grant execute on function berth_delete(jsonb,integer[],text[],text,text[],text) to berth_app;
grant execute on function berth_effect(text,jsonb) to berth_app;
grant execute on function berth_filled(text,jsonb) to berth_app;
grant execute on function berth_filled_entries(jsonb,integer[],jsonb[]) to berth_app;
grant execute on function berth_filled_entry(jsonb,jsonb) to berth_app;
grant execute on function berth_filled_writes(jsonb,integer[],jsonb[]) to berth_app;
grant execute on function berth_firewall_tag(uuid) to berth_app;
grant execute on function berth_free_ranges(text,bigint,bigint) to berth_app;
grant execute on function berth_give_claims(text,bigint,bigint,bigint) to berth_app;
grant execute on function berth_guard(text,jsonb) to berth_app;
grant execute on function berth_held(text,text[],text[],uuid[],bigint[],text,text,text) to berth_app;
grant execute on function berth_insert(jsonb,integer[],text[],text,text[],text) to berth_app;
grant execute on function berth_load_since(uuid,timestamp with time zone,text) to berth_app;
grant execute on function berth_made_bytes(uuid) to berth_app;
grant execute on function berth_migration_ended(text) to berth_app;
grant execute on function berth_named(text[]) to berth_app;
grant execute on function berth_now() to berth_app;
grant execute on function berth_release(text,text) to berth_app;
grant execute on function berth_remove(jsonb,integer[],text[],text,text[],text) to berth_app;
grant execute on function berth_replaced(text,jsonb) to berth_app;
grant execute on function berth_statement(text,text,text[],text) to berth_app;
grant execute on function berth_unmade_bytes(uuid) to berth_app;
grant execute on function berth_unproven_releases(uuid) to berth_app;
grant execute on function berth_update(jsonb,integer[],text[],text,text[],text) to berth_app;
grant execute on function berth_upsert(jsonb,integer[],text[],text,text[],text) to berth_app;
grant execute on function berth_vpc_generation(uuid) to berth_app;
grant execute on function close_denials(integer) to berth_app;
grant execute on function commit_units_1(jsonb,integer[],text[],text[],uuid[],bigint[],integer[],integer[],text[],text[],uuid[],bigint[],text[],text[],text[],uuid[],timestamp with time zone[],text[],integer[],integer[],uuid[],text[]) to berth_app;
grant execute on function count_denial(text,integer,uuid,text,jsonb) to berth_app;
grant execute on function count_host() to berth_app;
grant execute on function denials_since(timestamp with time zone,bigint) to berth_app;
grant execute on function effect_claim_ended(jsonb) to berth_app;
grant execute on function effect_cn_network_changed(jsonb) to berth_app;
grant execute on function effect_cn_use(jsonb) to berth_app;
grant execute on function effect_end_claims(jsonb) to berth_app;
grant execute on function effect_external_network_changed(jsonb) to berth_app;
grant execute on function effect_nics_changed(jsonb) to berth_app;
grant execute on function effect_quota_use(jsonb) to berth_app;
grant execute on function effect_rebuild_admin_pool(jsonb) to berth_app;
grant execute on function effect_unproven_ended(jsonb) to berth_app;
grant execute on function effect_vpc_routes_gone(jsonb) to berth_app;
grant execute on function effect_webhook_queued(jsonb) to berth_app;
grant execute on function effect_webhook_redelivered(jsonb) to berth_app;
grant execute on function guard_boot_policy_is(jsonb) to berth_app;
grant execute on function guard_claims_are_counted(jsonb) to berth_app;
grant execute on function guard_cn_has_room(jsonb) to berth_app;
grant execute on function guard_cn_is_approved(jsonb) to berth_app;
grant execute on function guard_cn_is_live(jsonb) to berth_app;
grant execute on function guard_cn_is_not_draining(jsonb) to berth_app;
grant execute on function guard_cn_is_not_upgrading(jsonb) to berth_app;
grant execute on function guard_cn_is_silent(jsonb) to berth_app;
grant execute on function guard_cn_may_host_gateway(jsonb) to berth_app;
grant execute on function guard_cn_offers_nic_tag(jsonb) to berth_app;
grant execute on function guard_cn_sends_fewer(jsonb) to berth_app;
grant execute on function guard_disk_is_at_rest(jsonb) to berth_app;
grant execute on function guard_enrollment_pi_is_set(jsonb) to berth_app;
grant execute on function guard_enrollment_pi_is_staged(jsonb) to berth_app;
grant execute on function guard_enrolment_window_is_open(jsonb) to berth_app;
grant execute on function guard_external_network_is_offered(jsonb) to berth_app;
grant execute on function guard_external_subnet_is_apart(jsonb) to berth_app;
grant execute on function guard_external_subnet_is_off_nodes(jsonb) to berth_app;
grant execute on function guard_external_subnet_is_unused(jsonb) to berth_app;
grant execute on function guard_external_subnets_exist(jsonb) to berth_app;
grant execute on function guard_firewall_rules_are(jsonb) to berth_app;
grant execute on function guard_floating_ip_is_off_nodes(jsonb) to berth_app;
grant execute on function guard_floating_ip_is_released(jsonb) to berth_app;
grant execute on function guard_floating_ips_rest(jsonb) to berth_app;
grant execute on function guard_image_exists(jsonb) to berth_app;
grant execute on function guard_image_is_unused(jsonb) to berth_app;
grant execute on function guard_image_upload_fits(jsonb) to berth_app;
grant execute on function guard_instance_stays(jsonb) to berth_app;
grant execute on function guard_is_last_claim(jsonb) to berth_app;
grant execute on function guard_nat_gateway_has_no_forward(jsonb) to berth_app;
grant execute on function guard_nat_gateway_has_room(jsonb) to berth_app;
grant execute on function guard_nat_gateway_is_unused(jsonb) to berth_app;
grant execute on function guard_nic_blocks_are_apart(jsonb) to berth_app;
grant execute on function guard_nic_is_unused(jsonb) to berth_app;
grant execute on function guard_nic_tag_exists(jsonb) to berth_app;
grant execute on function guard_nic_tag_is_unused(jsonb) to berth_app;
grant execute on function guard_no_active_cn(jsonb) to berth_app;
grant execute on function guard_no_instance_on_cn(jsonb) to berth_app;
grant execute on function guard_no_migration_of_cn(jsonb) to berth_app;
grant execute on function guard_no_reservation_on_cn(jsonb) to berth_app;
grant execute on function guard_node_has_room_for_claim(jsonb) to berth_app;
grant execute on function guard_operation_runs(jsonb) to berth_app;
grant execute on function guard_pin_holds(jsonb) to berth_app;
grant execute on function guard_placement_group_allows(jsonb) to berth_app;
grant execute on function guard_placement_group_is_empty(jsonb) to berth_app;
grant execute on function guard_project_has_webhook_room(jsonb) to berth_app;
grant execute on function guard_project_is_empty(jsonb) to berth_app;
grant execute on function guard_quota_has_room(jsonb) to berth_app;
grant execute on function guard_route_table_is_unused(jsonb) to berth_app;
grant execute on function guard_silo_is_empty(jsonb) to berth_app;
grant execute on function guard_silo_is_not_named(jsonb) to berth_app;
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
grant execute on function guard_webhook_delivery_exists(jsonb) to berth_app;
grant execute on function instance_load_part(text,integer) to berth_app;
grant execute on function instance_load_sum() to berth_app;
grant execute on function job_number() to berth_app;
grant execute on function limits_in_force(jsonb,jsonb) to berth_app;
grant execute on function limits_of_project(uuid,jsonb) to berth_app;
grant execute on function limits_of_tenant(uuid,jsonb) to berth_app;
grant execute on function load_fleet(integer) to berth_app;
grant execute on function load_long(integer) to berth_app;
grant execute on function load_materialize(double precision) to berth_app;
grant execute on function load_sample(double precision) to berth_app;
grant execute on function log_drop(bigint,integer,text[]) to berth_app;
grant execute on function nic_mac() to berth_app;
grant execute on function nodes_of_other_network(uuid) to berth_app;
grant execute on function nodes_to_place(timestamp with time zone) to berth_app;
grant execute on function nodes_to_place_2(timestamp with time zone) to berth_app;
grant execute on function placement_group_hosts(uuid) to berth_app;
grant execute on function quota_broken(jsonb,jsonb,jsonb) to berth_app;
grant execute on function seen_bound(date) to berth_app;
grant execute on function seen_maintain(integer) to berth_app;
grant execute on function store_metrics(uuid[],text[],integer) to berth_app;
grant execute on function stored_upload_add() to berth_app;
grant execute on function usage_between(date,date,uuid) to berth_app;
grant execute on function usage_by_day(date,date,uuid) to berth_app;
grant execute on function usage_close(double precision,integer) to berth_app;
grant execute on function usage_close_slice(double precision,integer) to berth_app;
grant execute on function usage_follow() to berth_app;
grant execute on function user_data_is_sealed() to berth_app;
grant execute on function webhook_count() to berth_app;
grant execute on function webhook_due(uuid) to berth_app;
grant execute on function webhook_follow(integer,integer) to berth_app;
grant execute on function webhook_next(uuid,uuid) to berth_app;
grant execute on function webhook_record(uuid,uuid,uuid,integer,text,double precision,double precision,double precision,boolean) to berth_app;
grant execute on function webhook_take(double precision,integer,integer,uuid[]) to berth_app;
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
insert into actor_kind values ('placement-group', 'placement_group', 'id', 'uuid');
insert into actor_kind values ('port-forward', 'port_forward', 'id', 'uuid');
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
insert into actor_kind values ('webhook', 'webhook', 'id', 'uuid');
