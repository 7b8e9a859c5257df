-- Puts allocated values [[token, value]] in place of their tokens in an entry. If the replacement changes nothing,
-- returns the entry itself, because parsing the text again costs more than this comparison.
create or replace function berth_filled_entry(entry jsonb, given jsonb) returns jsonb language plpgsql immutable as $$
declare
  content text;
  filled  text;
begin
  if given is null then return entry; end if;
  content := entry::text;
  filled := berth_replaced(content, given);
  return case when filled = content then entry else filled::jsonb end;
end $$;
