-- Creates the deliveries for the next audit events, at most `events_max`, in the order of the events. Moves the cursor
-- past these events in the same transaction, so each webhook gets exactly one delivery for each event that it wants.
-- Returns the number of audit events that it read; 0 if no webhook exists, or if another call is running.
-- Only permitted changes of a project's objects cause deliveries. The actions webhook_test and webhook_redeliver are
-- left out, because these two requests create deliveries themselves. A webhook gets no event that happened before its
-- creation, or while it was disabled. webhook_queue.enabled is the webhook's state at the cursor; the audit events show
-- when this state changes later. If `pending_max` deliveries of a webhook wait already, further deliveries get the
-- state dead at once.
create or replace function webhook_follow(events_max int, pending_max int) returns int language plpgsql volatile as $$
declare
  from_seq bigint;
  head_seq bigint;
  to_seq   bigint;
  filled   uuid[];
  switched uuid[];
begin
  if not pg_try_advisory_xact_lock(hashtextextended('webhook-follow', 0)) then return 0; end if;
  select c.seq, h.seq into from_seq, head_seq from webhook_cursor c, audit_head h;
  if from_seq >= head_seq then return 0; end if;
  if not exists (select from webhook) then
    -- Without a webhook there is nothing to deliver, so the cursor need not move with each event.
    if head_seq - from_seq >= events_max then update webhook_cursor set seq = head_seq; end if;
    return 0;
  end if;
  to_seq := least(from_seq + events_max, head_seq);
  with event as (
    select e.seq, e.canonical::jsonb as audit from audit_event e where e.seq > from_seq and e.seq <= to_seq),
  of_project as (
    select seq, audit, coalesce(audit->'payload'->>'project_id',
                                substring(audit->>'resource' from '^Project::"([0-9a-f-]{36})"$'))::uuid as project_id
      from event
     where audit->>'decision' = 'allow' and audit->>'action' not in ('webhook_test', 'webhook_redeliver')),
  setting as (
    select substring(audit->>'resource' from '^Webhook::"([0-9a-f-]{36})"$')::uuid as webhook_id, seq,
           (audit->'payload'->>'enabled')::boolean as enabled, audit->>'action' = 'webhook_create' as creates
      from of_project where audit->>'action' in ('webhook_create', 'webhook_update')),
  wanted as (
    select o.seq, o.audit, w.id as webhook_id, w.tenant_id, w.project_id,
           q.waiting + row_number() over (partition by w.id order by o.seq) > pending_max as is_full
      from of_project o join webhook w on w.project_id = o.project_id join webhook_queue q on q.webhook_id = w.id
      left join setting s on s.webhook_id = w.id and s.seq = o.seq
      cross join lateral (
        select coalesce((select b.enabled from setting b where b.webhook_id = w.id and b.seq < o.seq
                          order by b.seq desc limit 1), q.enabled) as was_enabled) b
     where (o.audit->>'ts')::timestamptz >= w.created_at
       -- The event that disables a webhook is sent, and so is the event that enables it.
       and (coalesce(s.enabled, false) or was_enabled and s.creates is not true)
       and (w.events = '{}' or exists (
         select from unnest(w.events) p(pattern)
          where case when p.pattern like '%*' then starts_with(o.audit->>'action', left(p.pattern, -1))
                     else o.audit->>'action' = p.pattern end))),
  made as (
    insert into webhook_delivery (webhook_id, type, event, state, last_reason, ended_at)
      select w.webhook_id, w.audit->>'action',
             jsonb_build_object('time', w.audit->'ts', 'tenant_id', w.tenant_id, 'project_id', w.project_id,
                                'resource', w.audit->'resource', 'actor', w.audit->'actor',
                                'request_id', w.audit->'request_id', 'data', w.audit->'payload'),
             case when is_full then 'dead' else 'pending' end,
             case when is_full then format('%s deliveries were waiting', pending_max) end,
             case when is_full then berth_now() end
        from wanted w
       order by w.seq
    returning webhook_id, state)
  select (select array_agg(distinct webhook_id) from made where state = 'pending'),
         (select array_agg(webhook_id)
            from (select distinct on (webhook_id) webhook_id, enabled from setting order by webhook_id, seq desc) l
            join webhook_queue q using (webhook_id) where q.enabled <> l.enabled)
    into filled, switched;
  -- Locks the rows before it reads due_at. A process that records an attempt also locks the row, and sets due_at to
  -- null if it sees no waiting delivery. It may not see the deliveries that this call has created above, so this call
  -- must wait for its commit. The lock is not `for update`, because each insert of a delivery locks the row `for key
  -- share`, for the foreign key. With `for update`, two transactions that have inserted deliveries of one webhook would
  -- wait for each other.
  perform from webhook_queue where webhook_id = any(filled || switched) order by webhook_id for no key update;
  update webhook_queue set due_at = berth_now() where webhook_id = any(filled) and due_at is null;
  update webhook_queue set enabled = not enabled where webhook_id = any(switched);
  update webhook_cursor set seq = to_seq;
  return (to_seq - from_seq)::int;
end $$;
