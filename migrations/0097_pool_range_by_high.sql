-- Finds a free range by its highest value. An allocation takes the lowest value of a range, so the key of the range
-- stays the same, and PostgreSQL adds no entry to the index. With the lowest value in the key, each allocation left a
-- dead entry before the range, and the next allocations read all dead entries until the next vacuum.
alter table pool_range drop constraint pool_range_pkey, add constraint pool_range_pkey primary key (pool_id, high);
