-- Returns the chosen entries [{$u, $c, column...}], with the values that were allocated for their units in place of the
-- tokens. Other entries are removed, because a token in them is not a valid value of its column.
create or replace function berth_filled_entries(entries jsonb, choice int[], allocated jsonb[]) returns jsonb
language sql stable as $$
  select coalesce(jsonb_agg(berth_filled_entry(e, allocated[(e->>'$u')::int + 1])), '[]')
    from jsonb_array_elements(entries) e where choice[(e->>'$u')::int + 1] = (e->>'$c')::int $$;
