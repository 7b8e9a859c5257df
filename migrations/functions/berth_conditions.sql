-- Checks the conditions of one choice. If all conditions hold, runs the effects and changes the budgets and the pools.
-- Returns {"fault": ...} or {"values": {token: value}}. A guard returns true, false, or a text that names the obstacle;
-- the text replaces <WHAT> in the fault's message. An allocation may limit the offsets that it accepts.
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
end $$;
