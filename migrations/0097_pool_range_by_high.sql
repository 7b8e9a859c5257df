-- The key of a free range is now its highest value. An allocation takes the lowest value of a range, so the key stays
-- the same, and PostgreSQL adds no entry to the index. When the key was the lowest value, each allocation left a dead
-- entry before the range. The next allocations read all dead entries until the next vacuum.
alter table pool_range drop constraint pool_range_pkey, add constraint pool_range_pkey primary key (pool_id, high);
