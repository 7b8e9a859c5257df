-- Two boot parameters of a machine are secrets: root_shadow and rabbitmq. No code reads them from a stored inventory,
-- so the server no longer stores them. This migration removes those that earlier releases stored. It removes a member
-- if one segment of its key is one of the two names, in any letter case, with hyphens read as underscores.
create function pg_temp.may_hold_secrets(value jsonb) returns boolean language sql immutable as
  $$ select value::text ~* 'root[-_]shadow|rabbitmq' $$;

-- Descends only into values whose text contains one of the names, because an inventory has thousands of members.
create function pg_temp.without_secrets(value jsonb) returns jsonb language plpgsql as $$
declare
  found record;
  rest  jsonb := value;
begin
  if jsonb_typeof(value) = 'object' then
    for found in select key, member from jsonb_each(value) as each(key, member) loop
      if found.key ~* 'root[-_]shadow|rabbitmq' and exists (
        select from regexp_split_to_table(lower(found.key), '[./]') as segment
         where replace(regexp_replace(segment, '^\s+|\s+$', '', 'g'), '-', '_') in ('root_shadow', 'rabbitmq'))
      then
        rest := rest - found.key;
      elsif jsonb_typeof(found.member) in ('object', 'array') and pg_temp.may_hold_secrets(found.member) then
        rest := jsonb_set(rest, array[found.key], pg_temp.without_secrets(found.member));
      end if;
    end loop;
  elsif jsonb_typeof(value) = 'array' then
    for found in select place, member from jsonb_array_elements(value) with ordinality as each(member, place) loop
      if jsonb_typeof(found.member) in ('object', 'array') and pg_temp.may_hold_secrets(found.member) then
        rest := jsonb_set(rest, array[(found.place - 1)::text], pg_temp.without_secrets(found.member));
      end if;
    end loop;
  end if;
  return rest;
end $$;

-- Processes every column that stores what a machine reported about itself.
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
    execute format('update %1$I set %2$I = pg_temp.without_secrets(%2$I) where pg_temp.may_hold_secrets(%2$I)',
      found.place, found.field);
  end loop;
end $$;
drop function pg_temp.without_secrets(jsonb);
drop function pg_temp.may_hold_secrets(jsonb);
