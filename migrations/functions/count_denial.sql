-- Counts a denial of one caller and action. If no time window is open for them, audits the denial at once and opens a
-- window. During the window, only counts denials. When the window is over, close_denials or the next denial audits
-- their sum.
create or replace function count_denial(of_key text, window_s int, of_msg uuid, of_request text, of_audit jsonb) returns void
language plpgsql volatile as $$
declare
  counted denial_window;
begin
  loop
    insert into denial_window (key, opened_at, request_id, audit) values (of_key, berth_now(), of_request, of_audit)
      on conflict (key) do nothing;
    if found then
      perform audit_denial(of_msg, of_request, of_audit, null);
      return;
    end if;
    select * into counted from denial_window where key = of_key for update;
    -- If the row is not found, another call has just deleted it.
    exit when found;
  end loop;
  if counted.opened_at > berth_now() - make_interval(secs => window_s) then
    update denial_window set denials = denials + 1, request_id = of_request, audit = of_audit where key = of_key;
    return;
  end if;
  perform audit_denial(of_msg, of_request, of_audit,
    case when counted.denials > 0 then denials_since(counted.opened_at, counted.denials + 1) end);
  update denial_window set opened_at = berth_now(), denials = 0, request_id = of_request, audit = of_audit
   where key = of_key;
end $$;
