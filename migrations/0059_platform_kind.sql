-- The kinds of staged images that are not SmartOS platforms: { STAMP: KIND }. A process of the previous release writes
-- no kinds, so the column has a default.
alter table staging add column kinds jsonb not null default '{}';
