-- The list of the dead or of the delivered deliveries of a webhook, newest first. If a receiver works, nearly all
-- deliveries are delivered; if it does not, nearly all are dead. So a page of the other ones would read all deliveries,
-- and with millions of them this takes longer than a statement may take.
create index webhook_delivery_in_state on webhook_delivery (webhook_id, state, number) where state <> 'pending';
