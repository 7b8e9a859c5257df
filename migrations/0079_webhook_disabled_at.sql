-- When a webhook was last disabled. Events up to that time are still sent. Null: not disabled since this column exists.
alter table webhook add column disabled_at timestamptz;
