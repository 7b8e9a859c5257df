// Builds the statement that inserts an instance, for tests that do not depend on the details of the instance.

/** SQL expressions that replace the default values of columns, and a `from` clause. */
export type InstanceColumns = {
  readonly id?: string;
  readonly state?: string;
  readonly host_cn_uuid?: string;
  readonly image_id?: string;
  /**
   * A `from` clause. The statement inserts an instance only if the clause returns a row, for example the row of the
   * host.
   */
  readonly from?: string;
};

/**
 * Returns a statement that inserts an instance and its silo, tenant and project, and returns the instance's id. Without
 * `image_id`, the statement also inserts an image. It inserts no subnet and no operation.
 */
export function insertInstance(columns: InstanceColumns = {}): string {
  const { id = "gen_random_uuid()", state = "'stopped'", host_cn_uuid = "null::uuid", from = "" } = columns;
  const image = columns.image_id === undefined ? "(select id from img)" : `${columns.image_id}::uuid`;
  return `
    with ids as materialized (
      select gen_random_uuid() as silo, gen_random_uuid() as tenant, gen_random_uuid() as project,
             ${id}::uuid as instance, gen_random_uuid() as image ${from}),
    s as (insert into silo (id, incarnation, version, state, name, description, default_tenant_id, created_at)
      select silo, silo, 1, 'live', silo::text, '', tenant, berth_now() from ids),
    t as (insert into tenant (id, incarnation, version, state, silo_id, name, description, created_at)
      select tenant, tenant, 1, 'live', silo, tenant::text, '', berth_now() from ids),
    p as (insert into project (id, incarnation, version, state, tenant_id, name, description, created_at)
      select project, project, 1, 'live', tenant, project::text, '', berth_now() from ids),
    img as (insert into image (id, incarnation, version, state, scope_kind, name, description, os, os_version,
        size_bytes, sha256, created_at)
      select image, image, 1, 'live', 'public', image::text, '', 'none', '0', 1, repeat('0', 64), berth_now()
        from ids where ${columns.image_id === undefined}
      returning id)
    insert into instance (id, incarnation, version, state, reason, host_cn_uuid, tenant_id, project_id, name,
        description, brand, cpu, memory_bytes, image_id, primary_subnet_id, ssh_key_ids, operation_id, operation_kind,
        created_at, updated_at)
      select instance, instance, 1, state, case state when 'failed' then 'a test' end, host, tenant, project,
             instance::text, '', 'kvm', 1, 1048576, ${image}, gen_random_uuid(), '{}',
             case when state in ('pending', 'stopping') then instance end,
             case state when 'pending' then 'create' when 'stopping' then 'stop' end, berth_now(), berth_now()
        from ids, (select ${state} as state, ${host_cn_uuid} as host) given
      returning id`;
}
