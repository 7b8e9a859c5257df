-- Migrations are never deleted. Every second, each drain of a node reads two kinds of migrations from its node: the
-- running ones, and the ones that began after the drain had begun.
create index migration_from_cn on migration (source_cn) where instance_id is not null
  and state not in ('completed', 'failed', 'aborted');
create index migration_begun_from_cn on migration (source_cn, created_at);
