// Finds the audience of an object: the callers that may see that it changed. An audience is everybody, a silo, a tenant
// or a user. The result is kept, because a deleted object no longer has a row. An object of a kind that is not in KINDS
// has no audience. Operators see all changes.
import type { ActorRef } from "../../actors/engine/types.ts";
import { createLookup } from "./lookup.ts";
import type { Db } from "./pool.ts";

/** `public`, `silo:ID`, `tenant:ID` or `user:ID`. */
export type Audience = string;

const OF_TENANT = "array['tenant:' || tenant_id]";
const OF_RECORD = `array[case scope_kind when 'public' then 'public' when 'silo' then 'silo:' || silo_id
  when 'user' then 'user:' || user_id else 'tenant:' || tenant_id end]`;
/** Like OF_RECORD, for images, whose scope is never a user. */
const OF_IMAGE = OF_RECORD.replace("when 'user' then 'user:' || user_id ", "");

/** The table, the key and the audience for each kind of object whose changes callers other than operators may see. */
const KINDS: Readonly<Record<string, { readonly table: string; readonly key?: string; readonly audience: string }>> = {
  "api-key": {
    table: "api_key",
    audience: "array[case when tenant_id is null then 'user:' || user_id else 'tenant:' || tenant_id end]",
  },
  "console-session": {
    table: "console_session",
    audience: "array['tenant:' || (select tenant_id from instance i where i.id = instance_id)]",
  },
  "firewall-rule": { table: "firewall_rule", audience: OF_TENANT },
  "floating-ip": { table: "floating_ip", audience: OF_TENANT },
  image: { table: "image", audience: OF_IMAGE },
  "image-upload": { table: "image_upload", audience: OF_TENANT },
  instance: { table: "instance", audience: OF_TENANT },
  "nat-gateway": { table: "nat_gateway", audience: OF_TENANT },
  "placement-group": { table: "placement_group", audience: OF_TENANT },
  "port-forward": { table: "port_forward", audience: OF_TENANT },
  project: { table: "project", audience: OF_TENANT },
  quota: {
    table: "quota",
    key: "project_id",
    audience: "array['tenant:' || (select tenant_id from project where id = project_id)]",
  },
  route: { table: "route", audience: OF_TENANT },
  "route-table": { table: "route_table", audience: OF_TENANT },
  saga: {
    table: "saga",
    audience: "array(select 'tenant:' || (r->>'id') from jsonb_array_elements(refs) r where r->>'scope' = 'tenant')",
  },
  "ssh-key": { table: "ssh_key", audience: OF_RECORD },
  subnet: { table: "subnet", audience: OF_TENANT },
  tenant: { table: "tenant", audience: "array['tenant:' || id]" },
  "tenant-quota": { table: "tenant_quota", key: "tenant_id", audience: OF_TENANT },
  vpc: { table: "vpc", audience: OF_TENANT },
  webhook: { table: "webhook", audience: OF_TENANT },
};

/** The maximum number of objects whose audiences are kept, about 150 bytes each. */
const KEPT_MAX = 20_000;

export type AudiencesOf = (refs: readonly ActorRef[]) => Promise<readonly (readonly Audience[])[]>;

/**
 * Returns the function that finds the audiences of objects, in the order of the objects. Callers that arrive together
 * share queries.
 */
export function createAudiences({ query }: Pick<Db, "query">): AudiencesOf {
  const kept = new Map<string, readonly Audience[]>();

  const find = createLookup<readonly Audience[]>(async (keys) => {
    const byKind = Map.groupBy(keys, (key) => key.slice(0, key.indexOf(":")));
    const found = await Promise.all([...byKind].map(([kind, ofKind]) => read(kind, ofKind)));
    return new Map(found.flat());
  });

  async function read(kind: string, keys: readonly string[]): Promise<[string, readonly Audience[]][]> {
    const of = KINDS[kind];
    if (of === undefined) return [];
    const { table, key = "id", audience } = of;
    const { rows } = await query<{ id: string; audience: Audience[] }>(
      `select ${key}::text as id, ${audience} as audience from ${table} where ${key} = any($1::uuid[])`,
      [keys.map((each) => each.slice(kind.length + 1))],
    );
    return rows.map((row) => [`${kind}:${row.id}`, row.audience]);
  }

  function keep(key: string, audiences: readonly Audience[]): void {
    kept.set(key, audiences);
    const [oldest] = kept.keys();
    if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
  }

  return (refs) =>
    Promise.all(refs.map(async ({ kind, id }) => {
      const key = `${kind}:${id}`;
      if (!(kind in KINDS)) return [];
      const known = kept.get(key);
      if (known !== undefined) return known;
      const found = await find(key);
      if (found !== null) keep(key, found);
      return found ?? [];
    }));
}
