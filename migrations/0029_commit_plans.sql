-- The queries of a commit (guards, foreign keys and effects) find rows by a key. PostgreSQL makes one plan for all
-- values. For a query with `limit 1`, it plans a sequential scan if the statistics promise an early match. Such a scan
-- reads the whole table for a value that has no match, so sequential scans are off. Before PostgreSQL 18, this setting
-- makes the estimated cost of a plan so high that PostgreSQL compiles the plan. Compiling takes longer than the query,
-- so JIT is off.
alter function commit_units_1 set enable_seqscan = off;
alter function commit_units_1 set jit = off;
