-- When a webhook was last disabled. Events up to that time are still sent. Null: never disabled, or not since this column.
alter table webhook add column disabled_at timestamptz;
