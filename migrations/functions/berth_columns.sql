-- Berth does not call this function any more; a later migration can drop it.
-- Lists the given columns that the table itself has, for an insert, an update or a select. The other columns
-- exist only in the view that loads the rows.
create or replace function berth_columns(of_table regclass, given text[], alias text) returns text
language plpgsql stable strict as $$
begin
  return (
    select string_agg(alias || quote_ident(attname), ', ' order by attnum) from pg_attribute
     where attrelid = of_table and attname = any(given) and attnum > 0 and not attisdropped and attgenerated = '');
end $$;
