-- Puts allocated values [[token, value]] in place of their tokens, which are whole strings of a JSON text. Tokens and
-- values are JSON texts themselves. Without values the text stays as it is. The loop counts positions, because a loop
-- over a query would cost more than the replacement.
create or replace function berth_replaced(content text, given jsonb) returns text language plpgsql immutable as $$
begin
  if given is null then return content; end if;
  for place in 0 .. jsonb_array_length(given) - 1 loop
    content := replace(content, given->place->>0, given->place->>1);
  end loop;
  return content;
end $$;
