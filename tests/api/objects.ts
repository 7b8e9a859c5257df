// Creates through the API one object of every kind that a path or a selector can name. Tests of all routes use the
// objects.
import { addNode } from "../compute/compute-fixture.ts";
import { okOf, type TestControlPlane } from "../support/control-plane.ts";
import { acceptedBodies } from "./bodies.ts";
import type { RouteDescription } from "./description.ts";

/** Ids by path parameter and by selector. Both names of an object, such as `vpc_id` and `vpc`, have the same id. */
export type Objects = Readonly<Record<string, string>>;

/**
 * How to create one object of each kind except instance and port_forward, parents first. A path may contain the ids of
 * earlier objects.
 */
const MADE: readonly (readonly [name: string, path: string, body: string])[] = [
  ["silo", "/v1/silos", "POST /v1/silos"],
  ["tenant", "/v1/silos/{silo_id}/tenants", "POST /v1/silos/{silo_id}/tenants"],
  ["project", "/v1/tenants/{tenant_id}/projects", "POST /v1/tenants/{tenant_id}/projects"],
  ["image", "/v1/images", "POST /v1/images"],
  ["key", "/v1/ssh-keys", "POST /v1/ssh-keys"],
  ["vpc", "/v1/vpcs?tenant={tenant}&project={project}", "POST /v1/vpcs"],
  ["placement_group", "/v1/placement-groups?tenant={tenant}&project={project}", "POST /v1/placement-groups"],
  ["subnet", "/v1/subnets?vpc={vpc}", "POST /v1/subnets"],
  ["route_table", "/v1/route-tables?vpc={vpc}", "POST /v1/route-tables"],
  ["route", "/v1/routes?route_table={route_table}", "POST /v1/routes"],
  ["firewall_rule", "/v1/firewall-rules?vpc={vpc}", "POST /v1/firewall-rules"],
  ["nat_gateway", "/v1/nat-gateways?vpc={vpc}", "POST /v1/nat-gateways"],
  ["floating_ip", "/v1/floating-ips?tenant={tenant}&project={project}", "POST /v1/floating-ips"],
  ["webhook", "/v1/webhooks?tenant={tenant}&project={project}", "POST /v1/webhooks"],
  ["delivery", "/v1/webhooks/{webhook}/test", "POST /v1/webhooks/{webhook_id}/test"],
];

const EVERY = [...MADE.map(([name]) => name), "instance", "port_forward"];

/**
 * Creates an object of every kind, or only of the kinds in `only` and their parents. It uses the objects in `within` as
 * parents and does not create these again. Returns the ids of all objects.
 */
export async function makeObjects(t: TestControlPlane, within: Objects = {}, only = EVERY): Promise<Objects> {
  const made: Record<string, string> = { ...within };
  const wanted = withParents(only);
  for (const [name, path, body] of MADE) {
    if (name in within || !wanted.has(name)) continue;
    const { id } = okOf(await t.call("POST", fill(path, made), { body: acceptedBodies[body]?.() }));
    made[name] = made[`${name}_id`] = id;
  }
  if (!("instance" in within) && wanted.has("instance")) Object.assign(made, await makeInstance(t, made));
  if (!("port_forward" in within) && wanted.has("port_forward")) Object.assign(made, await makePortForward(t, made));
  await operationsEnded(t, new Set(Object.values(made)));
  return made;
}

/** Creates a port forward from the gateway to the NIC of these objects. */
export async function makePortForward(t: TestControlPlane, of: Objects): Promise<Objects> {
  const body = acceptedBodies["POST /v1/port-forwards"]?.(of);
  const { id } = okOf(await t.call("POST", `/v1/port-forwards?vpc=${of.vpc}`, { body }));
  return { port_forward: id, port_forward_id: id };
}

/**
 * Returns the kinds and all their parents, up to the silo. A disk, a snapshot or a NIC is created with its instance, so
 * the result has the instance instead.
 */
function withParents(names: readonly string[]): ReadonlySet<string> {
  const wanted = new Set(names.map((name) => ["disk", "snapshot", "nic"].includes(name) ? "instance" : name));
  if (wanted.has("port_forward")) wanted.add("instance").add("nat_gateway");
  if (wanted.has("instance")) wanted.add("vpc");
  for (const [name, path] of MADE.toReversed()) {
    if (!wanted.has(name)) continue;
    for (const [, parent = ""] of path.matchAll(/\{(\w+?)(?:_id)?\}/g)) wanted.add(parent);
  }
  return wanted;
}

let platforms = 0;

/**
 * Creates an instance with its own image, subnet, node, disk and NIC. The instance stays in the state stopping, with a
 * delete operation that never ends. So a request that would change the instance is refused at once and does not wait
 * for a node.
 */
async function makeInstance(t: TestControlPlane, made: Objects): Promise<Objects> {
  // Only this node has the platform version that the image needs.
  const platform = `${2900 + ++platforms}0101T000000Z`;
  const node = await addNode(t, { platform_version: platform, hvm_supported: true });
  const own = async (path: string, fields: object = {}) => {
    const body = { ...acceptedBodies[`POST ${path.split("?")[0]}`]?.(), ...fields };
    return okOf(await t.call("POST", path, { body })).id;
  };
  const body = {
    ...acceptedBodies["POST /v1/instances"]?.(),
    image_id: await own("/v1/images", {
      compatibility: { brand: "bhyve", arch: "x86_64", min_platform: platform },
    }),
    // The subnet has both families, so that a gateway of either family can forward to the NIC.
    primary_subnet_id: await own(`/v1/subnets?vpc=${made.vpc}`, {
      ipv6_block: `fd00:10:0:${(0x1000 + platforms).toString(16)}::/64`,
    }),
    extra_nics: [],
    ssh_key_ids: [],
    mac: null,
  };
  const query = `?tenant=${made.tenant}&project=${made.project}`;
  const { id: instance } = await node.done(t.call("POST", `/v1/instances${query}`, { body }), "provision");
  const [disk] = okOf(await t.call("GET", `/v1/disks?instance=${instance}`)).items;
  const [nic] = okOf(await t.call("GET", `/v1/nics?instance=${instance}`)).items;
  await t.db.query(
    `update instance set state = 'stopping', operation_id = id, operation_kind = 'delete', version = version + 1
      where id = $1`,
    [instance],
  );
  const { rows: [snapshot] } = await t.db.query(
    `insert into disk (id, tenant_id, project_id, instance_id, name, description, kind, size_bytes, created_at,
       attached, source_disk_id)
     select gen_random_uuid(), tenant_id, project_id, instance_id, 'before', '', 'snapshot', 1, berth_now(), false, id
       from disk where id = $1 returning id`,
    [disk.id],
  );
  await t.db.query(
    `select effect_quota_use(jsonb_build_object('project_id', project_id, 'disk_bytes', 1)),
            effect_cn_use(jsonb_build_object('server_uuid', host_cn_uuid, 'disk_bytes', 1)) from instance where id = $1`,
    [instance],
  );
  const ids = { instance, disk: disk.id, snapshot: snapshot.id, nic: nic.id, nic_subnet: nic.subnet_id };
  return Object.fromEntries(Object.entries(ids).flatMap(([name, id]) => [[name, id], [`${name}_id`, id]]));
}

type Operation = {
  readonly id: string;
  readonly state: string;
  readonly references: readonly { readonly id: string }[];
};

/** Waits until no operation on these objects is running. */
async function operationsEnded(t: TestControlPlane, ids: ReadonlySet<string>): Promise<void> {
  for (;;) {
    const operations: readonly Operation[] = okOf(await t.call("GET", "/v1/operations"));
    const running = operations.find(({ state, references }) =>
      state === "running" && references.some(({ id }) => ids.has(id))
    );
    if (running === undefined) return;
    await t.call("GET", `/v1/operations/${running.id}?wait=10`);
  }
}

/** Replaces the parameters of a path by ids. A parameter without an id stays as it is. */
export function fill(path: string, objects: Objects): string {
  return path.replace(/\{(\w+)\}/g, (whole, name) => objects[name] ?? whole);
}

const SELECTORS = ["tenant", "project", "vpc", "route_table", "instance", "disk"];

/** Returns the query of a route, including its question mark, with the selectors that `given` does not have. */
export function selectorsOf(route: RouteDescription, objects: Objects, given = ""): string {
  const needed = route.parameters.filter(({ name, in: place }) => place === "query" && SELECTORS.includes(name));
  const missing = needed.filter(({ name }) => !new RegExp(`[?&]${name}=`).test(given));
  const text = missing.map(({ name }) => `${name}=${objects[name]}`).join("&");
  return text === "" ? given : given === "" ? `?${text}` : `${given}&${text}`;
}
