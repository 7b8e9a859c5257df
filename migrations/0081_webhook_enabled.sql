-- Whether a webhook was enabled at the event to which webhook_cursor points. webhook_follow reads later changes from
-- the audit events, because these have an order even within a millisecond. The columns enabled_at and disabled_at of
-- webhook are no longer used. They contain only the last change of each kind.
alter table webhook_queue add column enabled boolean not null default true;
update webhook_queue q set enabled = false from webhook w where w.id = q.webhook_id and not w.enabled;
