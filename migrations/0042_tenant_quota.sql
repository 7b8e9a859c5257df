-- A quota of a tenant limits the sum over its projects, so one more project does not raise the limit. The usage of the
-- tenant is counted in the same commit as the usage of the project. The commit holds the lock quota:<tenant>
-- exclusively.
create table tenant_usage (
  tenant_id    uuid primary key references tenant (id) on delete cascade,
  cpu          bigint not null default 0 check (cpu >= 0),
  memory_bytes bigint not null default 0 check (memory_bytes >= 0),
  disk_bytes   bigint not null default 0 check (disk_bytes >= 0),
  instances    bigint not null default 0 check (instances >= 0)
);
insert into tenant_usage
  select t.id, coalesce(sum(u.cpu), 0), coalesce(sum(u.memory_bytes), 0), coalesce(sum(u.disk_bytes), 0),
         coalesce(sum(u.instances), 0)
    from tenant t left join project p on p.tenant_id = t.id left join project_usage u on u.project_id = p.id
   group by t.id;

create table tenant_quota (
  tenant_id      uuid primary key references tenant (id) on delete cascade,
  incarnation    uuid not null,
  version        bigint not null check (version > 0),
  wake_at        timestamptz,
  state          text not null check (state = 'set'),
  cpu_limit      bigint not null check (cpu_limit >= 0),
  memory_bytes   bigint not null check (memory_bytes >= 0),
  disk_bytes     bigint not null check (disk_bytes >= 0),
  instance_limit bigint not null check (instance_limit >= 0),
  updated_at     timestamptz not null
);
insert into actor_kind values ('tenant-quota', 'tenant_quota', 'tenant_id');

-- The limits of a tenant or a project: its quota or, without a quota, the defaults {cpu_limit, memory_bytes,
-- disk_bytes, instance_limit}. In the defaults, null means no limit. `own` is true if there is a quota.
create function limits_of_project(project uuid, defaults jsonb,
  out cpu bigint, out memory_bytes bigint, out disk_bytes bigint, out instances bigint, out own boolean)
language sql stable as $$
  select case when q.project_id is null then (defaults->>'cpu_limit')::bigint else q.cpu_limit end,
         case when q.project_id is null then (defaults->>'memory_bytes')::bigint else q.memory_bytes end,
         case when q.project_id is null then (defaults->>'disk_bytes')::bigint else q.disk_bytes end,
         case when q.project_id is null then (defaults->>'instance_limit')::bigint else q.instance_limit end,
         q.project_id is not null
    from (values (project)) w(id) left join quota q on q.project_id = w.id $$;
create function limits_of_tenant(tenant uuid, defaults jsonb,
  out cpu bigint, out memory_bytes bigint, out disk_bytes bigint, out instances bigint, out own boolean)
language sql stable as $$
  select case when q.tenant_id is null then (defaults->>'cpu_limit')::bigint else q.cpu_limit end,
         case when q.tenant_id is null then (defaults->>'memory_bytes')::bigint else q.memory_bytes end,
         case when q.tenant_id is null then (defaults->>'disk_bytes')::bigint else q.disk_bytes end,
         case when q.tenant_id is null then (defaults->>'instance_limit')::bigint else q.instance_limit end,
         q.tenant_id is not null
    from (values (tenant)) w(id) left join tenant_quota q on q.tenant_id = w.id $$;

-- Returns the limit that would be exceeded, or 'true'. limits, used and asked are {cpu, memory_bytes, disk_bytes,
-- instances}.
create function quota_broken(limits jsonb, used jsonb, asked jsonb) returns text language sql stable as $$
  select coalesce(
    (select format('%s: limit %s%s, used %s, asked for %s', name, limits->>name,
                   case when (limits->>'own')::boolean then '' else ' (the default of the site)' end,
                   coalesce((used->>name)::bigint, 0), asked->>name)
       from unnest(array['cpu', 'memory_bytes', 'disk_bytes', 'instances']) with ordinality each(name, place)
      where (asked->>name)::bigint > 0
        and coalesce((used->>name)::bigint, 0) + (asked->>name)::bigint > (limits->>name)::bigint
      order by place limit 1),
    'true') $$;

-- Arguments: {project_id, cpu, memory_bytes, disk_bytes, instances, defaults}. The caller holds the locks project:<id>
-- and quota:<tenant> exclusively.
create or replace function guard_quota_has_room(args jsonb) returns text language sql volatile as $$
  select coalesce(
    (select quota_broken(to_jsonb(l), to_jsonb(u), args)
       from project_usage u cross join lateral limits_of_project(u.project_id, args->'defaults') l
      where u.project_id = (args->>'project_id')::uuid),
    'true') $$;
-- Arguments: {tenant_id, cpu, memory_bytes, disk_bytes, instances, defaults}. The caller holds the lock quota:<tenant>
-- exclusively.
create function guard_tenant_quota_has_room(args jsonb) returns text language sql volatile as $$
  select quota_broken(to_jsonb(l), to_jsonb(u), args)
    from (values ((args->>'tenant_id')::uuid)) w(id) left join tenant_usage u on u.tenant_id = w.id
   cross join lateral limits_of_tenant(w.id, args->'defaults') l $$;

-- Adds to the usage of a project and of its tenant. Negative amounts subtract.
create or replace function effect_quota_use(args jsonb) returns void language plpgsql volatile as $$
declare
  of_tenant uuid := (select p.tenant_id from project p where p.id = (args->>'project_id')::uuid);
begin
  update project_usage set cpu = cpu + coalesce((args->>'cpu')::bigint, 0),
         memory_bytes = memory_bytes + coalesce((args->>'memory_bytes')::bigint, 0),
         disk_bytes = disk_bytes + coalesce((args->>'disk_bytes')::bigint, 0),
         instances = instances + coalesce((args->>'instances')::bigint, 0)
   where project_id = (args->>'project_id')::uuid;
  update tenant_usage set cpu = cpu + coalesce((args->>'cpu')::bigint, 0),
         memory_bytes = memory_bytes + coalesce((args->>'memory_bytes')::bigint, 0),
         disk_bytes = disk_bytes + coalesce((args->>'disk_bytes')::bigint, 0),
         instances = instances + coalesce((args->>'instances')::bigint, 0)
   where tenant_id = of_tenant;
  -- A server of the version before may have created the tenant, without its row.
  if not found then
    insert into tenant_usage
      select of_tenant, sum(u.cpu), sum(u.memory_bytes), sum(u.disk_bytes), sum(u.instances)
        from project p join project_usage u on u.project_id = p.id where p.tenant_id = of_tenant
      having count(*) > 0;
  end if;
end $$;
