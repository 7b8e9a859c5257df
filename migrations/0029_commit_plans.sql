-- What a commit asks, it asks by a key: guards, foreign keys and effects. Planned once for any value, they would read a
-- table whole where its statistics promise a hit soon (`limit 1`), also for the value that has none. Before PostgreSQL 18
-- a plan that is made so looks dear enough to be compiled, which takes longer than running it.
alter function commit_units_1 set enable_seqscan = off;
alter function commit_units_1 set jit = off;
