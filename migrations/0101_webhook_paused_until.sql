-- The end of a webhook's pause after a failed delivery. Until then the webhook gets only test events. Null: no pause.
alter table webhook_queue add column paused_until timestamptz;
-- For the oldest test event of a webhook that waits. Up to 10,000 other deliveries may wait before it.
create index webhook_delivery_test on webhook_delivery (webhook_id, number)
  where state = 'pending' and type = 'webhook_test';
update webhook_queue set paused_until = due_at where claim is null and due_at > berth_now();
