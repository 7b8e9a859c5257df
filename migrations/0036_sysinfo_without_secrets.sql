-- Two boot parameters of a machine are secrets: root_shadow and rabbitmq. Nothing reads them from a stored inventory, so
-- the server no longer stores them; this removes them from what releases before this one stored. The rule for a name is
-- that of src/pure/redact-sysinfo.ts: one segment of the key, in any letter case, with hyphens read as underscores.
create function pg_temp.without_secrets(value jsonb) returns jsonb language plpgsql as $$
begin
  case jsonb_typeof(value)
    when 'object' then
      return coalesce((select jsonb_object_agg(key, pg_temp.without_secrets(member))
        from jsonb_each(value) as each(key, member)
       where not exists (
         select from regexp_split_to_table(lower(key), '[./]') as segment
          where replace(regexp_replace(segment, '^\s+|\s+$', '', 'g'), '-', '_') in ('root_shadow', 'rabbitmq'))), '{}');
    when 'array' then
      return coalesce((select jsonb_agg(pg_temp.without_secrets(member) order by place)
        from jsonb_array_elements(value) with ordinality as each(member, place)), '[]');
    else
      return value;
  end case;
end $$;

-- Every table that keeps what a machine reported of itself.
do $$
declare
  found record;
begin
  for found in
    select c.table_name as place, c.column_name as field
      from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.data_type = 'jsonb'
       and (c.column_name like '%sysinfo' or c.column_name = 'last_status')
  loop
    execute format('update %1$I set %2$I = pg_temp.without_secrets(%2$I) where %2$I::text ~* ''root[-_]shadow|rabbitmq''',
      found.place, found.field);
  end loop;
end $$;
drop function pg_temp.without_secrets(jsonb);
