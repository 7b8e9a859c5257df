-- For the list of the dead or of the delivered deliveries of a webhook, newest first. If the receiver works, nearly all
-- deliveries are delivered. If the receiver does not work, nearly all are dead. Without this index, a page of the rare
-- state would read all deliveries. With millions of deliveries, this takes longer than the time limit of a statement.
create index webhook_delivery_in_state on webhook_delivery (webhook_id, state, number) where state <> 'pending';
