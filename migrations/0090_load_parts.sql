-- The load of instances is summed in parts of some thousand instances. While a period is partly summed, part_of is its
-- begin, and part_after is the last instance that is summed.
alter table instance_load_done add column part_of timestamptz, add column part_after uuid;
