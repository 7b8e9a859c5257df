-- When a webhook was last disabled; null if it was not disabled after this migration. Not used since 0081.
alter table webhook add column disabled_at timestamptz;
