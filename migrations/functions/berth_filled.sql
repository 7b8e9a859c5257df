-- Berth does not call this function any more; a later migration can drop it.
-- Puts allocated values {token: value} in place of their tokens, which are whole strings of a JSON text. Without values
-- the text stays as it is.
create or replace function berth_filled(content text, given jsonb) returns text language plpgsql immutable as $$
declare
  each record;
begin
  if given is null then return content; end if;
  for each in select to_json(key)::text as token, to_json(value)::text as value from jsonb_each_text(given) loop
    content := replace(content, each.token, each.value);
  end loop;
  return content;
end $$;
