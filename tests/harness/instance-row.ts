// An instance in a row of its own, for tests that need one to stand somewhere and care for nothing else about it.

/** SQL expressions in place of the usual values. */
export type InstanceColumns = { readonly id?: string; readonly state?: string; readonly image_id?: string };

/** A statement that inserts an instance and returns its id. */
export function insertInstance(columns: InstanceColumns = {}): string {
  const { id = "gen_random_uuid()", state = "'stopped'", image_id = "null" } = columns;
  return `
    insert into instance (id, incarnation, version, state, image_id)
      values (${id}::uuid, gen_random_uuid(), 1, ${state}, ${image_id}::uuid) returning id`;
}
