-- Placement groups: instances of a project that placement separates or keeps together (docs/instances.md, "Placement
-- groups").

create table placement_group (
  id          uuid primary key,
  incarnation uuid not null,
  version     bigint not null check (version > 0),
  wake_at     timestamptz,
  state       text not null check (state = 'live'),
  tenant_id   uuid not null,
  project_id  uuid not null,
  name        text not null,
  description text not null,
  labels      jsonb not null default '{}' check (jsonb_typeof(labels) = 'object'),
  policy      text not null check (policy in ('anti_affinity', 'affinity')),
  level       text not null check (level in ('node', 'fault_domain')),
  strictness  text not null check (strictness in ('required', 'preferred')),
  created_at  timestamptz not null,
  constraint placement_group_name unique (project_id, name),
  unique (id, project_id),
  constraint placement_group_project_fkey foreign key (project_id, tenant_id) references project (id, tenant_id)
);
insert into actor_kind values ('placement-group', 'placement_group', 'id');

alter table instance
  add column placement_group_id uuid,
  add constraint instance_placement_group_fkey
    foreign key (placement_group_id, project_id) references placement_group (id, project_id);
create index instance_of_placement_group on instance (placement_group_id) where placement_group_id is not null;

-- Creates the view again, with the new column of the instance.
drop view instance_loaded;
create view instance_loaded as
  select i.*, n.nics, d.disks,
         (select m.id from migration m
           where m.instance_id = i.id and m.state not in ('completed', 'failed', 'aborted') limit 1) as migration_id
    from instance i,
         lateral (select coalesce(jsonb_agg(to_jsonb(nic) order by ordinal), '[]') as nics
                    from nic where instance_id = i.id) n,
         lateral (select coalesce(jsonb_agg(to_jsonb(disk) order by kind, id), '[]') as disks
                    from disk where instance_id = i.id) d;
