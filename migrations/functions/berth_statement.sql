-- Returns the statement with which a commit call checks or writes rows of a table. `task schema` prints the statements
-- of all actor kinds and of frequent writes of child rows into berth_insert and its siblings, where PostgreSQL plans
-- each once for a connection. For any other table, every call creates and plans the statement.
-- Statements that write take:
-- - $1: entries [{$u, $c, $id, column...}]
-- - $2: the index of the chosen alternative of each unit; only the entries of this alternative are written
-- - $3: the columns that the entries give
-- Statements that check take:
-- - $1: the kind
-- - $2 to $5: the kinds, ids, incarnations and versions of the call's actors
-- The statement `held` locks the rows that have not changed since the load, and returns their actors. The statement
-- `absent` returns the actors that still have no row. Both return actors as positions in $2 to $5. A column that an
-- entry does not give gets its default in a new row, and keeps its value in an existing row. An entry may also give
-- columns that only the view has from which the kind is loaded; they are ignored.
create or replace function berth_statement(op text, of_table text, keys text[], key_type text) returns text
language plpgsql stable as $body$
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
end $body$;
