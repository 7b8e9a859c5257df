-- Lists the given columns that a table has, for insert, set or select. A state also has columns that its view joins. A
-- column that an older process does not know takes its default.
create or replace function berth_columns(of_table regclass, given text[], alias text) returns text
language sql stable strict as $$
  select string_agg(alias || quote_ident(attname), ', ' order by attnum) from pg_attribute
  where attrelid = of_table and attname = any(given) and attnum > 0 and not attisdropped and attgenerated = '' $$;
