-- When a webhook was last enabled again. It gets no event from before that time. Null: never disabled.
alter table webhook add column enabled_at timestamptz;
