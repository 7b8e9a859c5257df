-- The load of instances is summarized in parts of some thousand instances. While only a part of a period is summarized,
-- part_of is the start of the period, and part_after is the last instance that is summarized.
alter table instance_load_done add column part_of timestamptz, add column part_after uuid;
