-- Conditions can do two more things. A guard may return a text instead of true or false: the text names the obstacle,
-- and replaces <WHAT> in the message of the fault. An allocation may limit the offsets that it accepts.
create or replace function berth_conditions(conditions jsonb) returns jsonb language plpgsql volatile as $$
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
        select (remaining is null or remaining >= (each->>'amount')::bigint)
               and (expires_at is null or expires_at > berth_now())
          into holds from budget where name = each->>'budget' for update;
      when 'allocate' then
        perform pg_advisory_xact_lock(hashtextextended('pool:' || (each->>'pool'), 0));
        select exists (select from pool_range where pool_id = each->>'pool'
                        and high >= coalesce((each->>'low')::bigint, low) and low <= coalesce((each->>'high')::bigint, low))
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
        select r.low, r.high, p.base into spot from pool_range r join pool p on p.id = r.pool_id
          where r.pool_id = each->>'pool' and r.high >= coalesce((each->>'low')::bigint, r.low)
            and r.low <= coalesce((each->>'high')::bigint, r.low)
          order by r.low limit 1;
        if not found then
          -- An earlier allocation of this same unit took the last value.
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
end $$;
