-- Handles the time windows of count_denial that are over. Audits the sum of each window with denials, and begins a new
-- window. Deletes each window without denials. Returns the number of handled windows.
create or replace function close_denials(window_s int) returns int language plpgsql volatile as $$
declare
  counted denial_window;
  closed  int := 0;
begin
  for counted in select * from denial_window where opened_at <= (select berth_now()) - make_interval(secs => window_s)
                  order by key for update skip locked loop
    closed := closed + 1;
    if counted.denials > 0 then
      perform audit_denial(gen_random_uuid(), counted.request_id, counted.audit,
        denials_since(counted.opened_at, counted.denials));
      update denial_window set opened_at = berth_now(), denials = 0 where key = counted.key;
    else
      delete from denial_window where key = counted.key;
    end if;
  end loop;
  return closed;
end $$;
