-- A webhook can have a million deliveries, and to delete them takes longer than a statement may take. So the row of
-- webhook_queue stays when its webhook is deleted. Maintenance then deletes the deliveries in batches, and at last this
-- row. Not valid: every delivery has this row, and a check of all of them would block the commits meanwhile.
alter table webhook_queue drop constraint webhook_queue_webhook_id_fkey;
alter table webhook_delivery
  drop constraint webhook_delivery_webhook_id_fkey,
  add constraint webhook_delivery_queue_fkey foreign key (webhook_id) references webhook_queue (webhook_id) not valid;
