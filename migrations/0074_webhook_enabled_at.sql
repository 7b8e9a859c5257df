-- When a webhook was last enabled again. The webhook gets no event from before that time. Null: it was never enabled
-- again.
alter table webhook add column enabled_at timestamptz;
