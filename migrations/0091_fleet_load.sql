-- The load of all nodes in each ended hour, so that a read of a week does not read each hour of each node. An hour that
-- has no row yet is computed from cn_load_hour.
create table cn_load_fleet (
  hour     timestamptz primary key,
  cpu_mean double precision,
  cpu_max  double precision not null,
  nodes    int not null check (nodes > 0)
);
