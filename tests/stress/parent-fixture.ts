// Creates the fixture for pairs of operations on shared parents: a project with a complete VPC, an empty VPC, an empty
// project, an empty tenant, and a node with room for one instance. The fixture is created again for every history.
import { randomBytes } from "node:crypto";
import { approvalOf, nodeKey, registration } from "./node-messages.ts";
import { createdFloatingIp, createdImage, createdSubnet, createdVpc, GIB, ofFixedPool } from "./parent-messages.ts";
import type { TwoEngines } from "./two-engines.ts";
import { stageImage } from "./staged-image.ts";

/** The objects that all histories of a run share. */
export type Site = { readonly silo_id: string; readonly user_id: string };

export type ParentFixture = Site & {
  readonly tenant_id: string;
  readonly project_id: string;
  readonly vpc: string;
  readonly main_table: string;
  readonly table: string;
  readonly subnet: string;
  readonly empty_subnet: string;
  readonly nat_gateway: string;
  readonly floating_ip: string;
  readonly image: string;
  readonly node: string;
  readonly empty_vpc: string;
  readonly empty_vpc_main: string;
  readonly empty_project: string;
  readonly empty_tenant: string;
};

const EVERY_TABLE = [
  "vpc",
  "subnet",
  "route_table",
  "route",
  "firewall_rule",
  "nat_gateway",
  "floating_ip",
  "instance",
];

export async function openSite(two: TwoEngines): Promise<Site> {
  const [silo_id, tenant_id, user_id] = [two.newId(), two.newId(), two.newId()];
  await two.make({ kind: "user", id: user_id }, { type: "create_root", id: user_id, username: "root" });
  await two.make({ kind: "silo", id: silo_id }, {
    type: "create",
    id: silo_id,
    name: "site",
    description: "",
    default_tenant_id: tenant_id,
  });
  await two.make({ kind: "boot-policy", id: "site" }, {
    type: "put",
    policy: { auto_enroll: true, allowlist: [], enrollment_pi: "pi", enrollment_kernel_args: [], admin_network: null },
    span: null,
    expected: null,
    current: 0,
  });
  await stageImage(two, { stamp: "pi", user_id });
  return { silo_id, user_id };
}

export async function newParentFixture(two: TwoEngines, site: Site): Promise<ParentFixture> {
  const { make, newId } = two;
  const g: ParentFixture = {
    ...site,
    tenant_id: newId(),
    project_id: newId(),
    vpc: newId(),
    main_table: newId(),
    table: newId(),
    subnet: newId(),
    empty_subnet: newId(),
    nat_gateway: newId(),
    floating_ip: newId(),
    image: newId(),
    node: newId(),
    empty_vpc: newId(),
    empty_vpc_main: newId(),
    empty_project: newId(),
    empty_tenant: newId(),
  };
  const { tenant_id, project_id, silo_id } = g;
  const own = { tenant_id, project_id, description: "" };
  const tenant = (id: string) =>
    make({ kind: "tenant", id }, { type: "create", id, silo_id, name: `tenant-${id}`, description: "" });
  const project = (id: string) =>
    make({ kind: "project", id }, { type: "create", id, tenant_id, name: `project-${id}`, description: "" });
  await Promise.all([tenant(tenant_id), tenant(g.empty_tenant), addNode(two, { ...g, ram_mb: ROOM_MB })]);
  await Promise.all([project(project_id), project(g.empty_project)]);
  await Promise.all([
    make({ kind: "vpc", id: g.vpc }, createdVpc(g, { id: g.vpc, main: g.main_table, name: "full" })),
    make({ kind: "vpc", id: g.empty_vpc }, createdVpc(g, { id: g.empty_vpc, main: g.empty_vpc_main, name: "empty" })),
    make({ kind: "image", id: g.image }, createdImage(g, g.image)),
    make({ kind: "floating-ip", id: g.floating_ip }, createdFloatingIp(g, { id: g.floating_ip, name: "its" }, newId)),
  ]);
  const of_vpc = { ...own, vpc_id: g.vpc };
  await make({ kind: "subnet", id: g.subnet }, createdSubnet(g, { id: g.subnet, name: "used", block: "10.0.1.0/24" }));
  await Promise.all([
    make(
      { kind: "subnet", id: g.empty_subnet },
      createdSubnet(g, { id: g.empty_subnet, name: "unused", block: "10.0.9.0/24" }),
    ),
    make({ kind: "route-table", id: g.table }, { type: "create", id: g.table, ...of_vpc, name: "own", is_main: false }),
    make({ kind: "nat-gateway", id: g.nat_gateway }, {
      type: "create",
      id: g.nat_gateway,
      ...of_vpc,
      ...ofFixedPool(silo_id, newId),
      name: "its",
      operation_id: newId(),
    }),
  ]);
  await two.rest();
  return g;
}

/** Memory for one instance of 1 GiB. */
const ROOM_MB = 1_536;

type NewNode = { readonly node: string; readonly user_id: string; readonly ram_mb: number };

/** Creates an approved node whose heartbeat is an hour in the future, so that the node stays live. */
export async function addNode(two: TwoEngines, { node, user_id, ram_mb }: NewNode): Promise<void> {
  const to = { kind: "cn", id: node };
  const key = nodeKey({ id: two.newId(), user_id, by: "its" });
  const claim_code = randomBytes(3).toString("hex").toUpperCase();
  const id = two.newId();
  const claim = registration({ id, server_uuid: node, hostname: "node", claim_code }, two.newId);
  await two.make({ kind: "enrolment-claim", id }, claim);
  await two.make(to, approvalOf(claim, key, two.newId()));
  await two.db.query("insert into cn_signal (server_uuid, last_seen) values ($1, berth_now() + interval '1 hour')", [
    node,
  ]);
  const zones = { name: "zones", total_bytes: 100 * GIB, free_bytes: 100 * GIB, tier: "nvme" };
  const report = { cpu_threads_logical: 16, ram_total_mb: ram_mb, zpools: [zones], nic_tags: [] };
  await two.db.query("insert into cn_capacity values ($1, $2, berth_now())", [node, JSON.stringify(report)]);
}

/**
 * Returns the remaining objects of the tenant by name and state, the numbers of projects, tenants and images, the state
 * and use of the node, whether the subnet uses the table `table`, and the operations. Omits ids.
 */
export async function leftOf(two: TwoEngines, g: ParentFixture): Promise<unknown> {
  const counts = EVERY_TABLE.map((table) =>
    `(select coalesce(json_agg(name || ' ' || state order by name), '[]') from ${table} where tenant_id = $1) as ${table}`
  );
  const { rows: [row] } = await two.db.query(
    `select ${counts.join(", ")}, (select count(*) from project where tenant_id in ($1, $2)) as projects,
            (select count(*) from tenant where id in ($1, $2)) as tenants,
            (select count(*) from image where id = $3) as images, (select state from cn where server_uuid = $4) as node,
            (select array[instances, ram_mb] from cn_usage where server_uuid = $4 and instances > 0) as used,
            (select route_table_id = $5 from subnet where id = $6) as on_own_table,
            (select json_agg(saga || ' ' || state order by saga, state) from saga
              where refs @> jsonb_build_array(jsonb_build_object('scope', 'tenant', 'id', $1::text))) as operations`,
    [g.tenant_id, g.empty_tenant, g.image, g.node, g.table, g.subnet],
  );
  return row;
}
