-- Claims at most `rows_max` webhooks that are due, for `lease_s` seconds, and returns the first delivery of each.
-- `busy` has the tenant of each webhook to which the caller is sending already. The caller gets at most `each_max`
-- webhooks of one tenant; each entry of `busy` counts as one of them. A webhook with nothing to send becomes idle,
-- or waits for the end of its pause.
-- The rows are locked before the deliveries are read, so a delivery that was added meanwhile is either seen here or
-- sets due_at again.
create or replace function webhook_take(lease_s double precision, rows_max int, each_max int, busy uuid[])
returns setof record language plpgsql volatile as $$
declare
  taken  webhook_queue;
  found_ record;
begin
  for taken in
    select q.* from webhook_queue q
     where q.due_at <= berth_now() and q.webhook_id in (
       select d.webhook_id from (
         select w.webhook_id, w.due_at, row_number() over (partition by w.tenant_id order by w.due_at)
                  + (select count(*) from unnest(busy) b(tenant_id) where b.tenant_id = w.tenant_id) as place
           from webhook_queue w where w.due_at <= berth_now()) d
        where d.place <= each_max order by d.due_at limit rows_max)
     order by q.webhook_id for no key update skip locked
  loop
    select * into found_ from webhook_next(taken.webhook_id, gen_random_uuid());
    if found then
      update webhook_queue set claim = found_.claim, due_at = berth_now() + make_interval(secs => lease_s)
       where webhook_id = taken.webhook_id;
      return next found_;
    else
      update webhook_queue
         set claim = null, (due_at, paused_until) = (select d, d from webhook_due(taken.webhook_id) d)
       where webhook_id = taken.webhook_id;
    end if;
  end loop;
end $$;
