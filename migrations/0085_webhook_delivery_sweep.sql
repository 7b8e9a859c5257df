-- A webhook can have a million deliveries, and a statement that deletes them all takes longer than the time limit of a
-- statement. So the row of webhook_queue stays when its webhook is deleted. Maintenance deletes the deliveries in
-- batches, and then this row. The constraint is not validated: every existing delivery already has its row, and a check
-- of all deliveries would block commits.
alter table webhook_queue drop constraint webhook_queue_webhook_id_fkey;
alter table webhook_delivery
  drop constraint webhook_delivery_webhook_id_fkey,
  add constraint webhook_delivery_queue_fkey foreign key (webhook_id) references webhook_queue (webhook_id) not valid;
