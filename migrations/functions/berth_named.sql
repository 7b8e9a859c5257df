-- Joins the names of obstacles for a refusal: 'a', 'a and b', 'a, b and c'. Shows at most 5 names, so that the message
-- stays short. If the caller passes more names, the text ends with 'and others'. Returns null without a name.
create or replace function berth_named(names text[]) returns text language sql immutable as $$
  select case
    when cardinality(names) = 0 then null
    when cardinality(names) = 1 then names[1]
    when cardinality(names) > 5 then array_to_string(names[1:5], ', ') || ' and others'
    else array_to_string(names[1:cardinality(names) - 1], ', ') || ' and ' || names[cardinality(names)] end $$;
