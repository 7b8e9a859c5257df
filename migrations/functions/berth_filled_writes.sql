-- Berth does not call this function any more; a later migration can drop it.
-- Returns the writes [{entries: [{$u, $c, column...}], ...}] with only their chosen entries, and with allocated values
-- in place of tokens. $u and u are the unit, and $c and c the choice. A write without entries is one child row.
create or replace function berth_filled_writes(writes jsonb, choice int[], allocated jsonb[]) returns jsonb
language sql stable as $$
  select coalesce(jsonb_agg(
    case when w ? 'entries' then jsonb_set(w, '{entries}', coalesce((
           select jsonb_agg(berth_filled_entry(e, allocated[(e->>'$u')::int + 1]))
             from jsonb_array_elements(w->'entries') e where choice[(e->>'$u')::int + 1] = (e->>'$c')::int), '[]'))
         else berth_filled_entry(w, allocated[(w->>'u')::int + 1]) end), '[]')
    from jsonb_array_elements(writes) w
   where w ? 'entries' or choice[(w->>'u')::int + 1] = (w->>'c')::int $$;
