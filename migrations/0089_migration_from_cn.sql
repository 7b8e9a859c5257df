-- Migrations are kept for ever, and each drain of a node reads those from its node every second: the running ones, and
-- the ones that began since the drain began.
create index migration_from_cn on migration (source_cn) where instance_id is not null
  and state not in ('completed', 'failed', 'aborted');
create index migration_begun_from_cn on migration (source_cn, created_at);
