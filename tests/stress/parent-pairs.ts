// Tests every pair of operations on the same parent or its children, such as a VPC and its subnets. The statements of
// the two operations, and of the steps of their sagas, run in each order of SCHEDULES (docs/reliability.md, R-23).
import type { ActorRef, Message } from "../../actors/engine/types.ts";
import { checkAll, newReport, type PairReport, tryPair, VIOLATIONS_MAX } from "./pair.ts";
import { leftOf, newParentFixture, openSite, type ParentFixture, type Site } from "./parent-fixture.ts";
import {
  createdFloatingIp,
  createdInstance,
  createdRoute,
  createdSubnet,
  createdVpc,
  ofFixedPool,
} from "./parent-messages.ts";
import type { TwoEngines } from "./two-engines.ts";

type Order = { readonly to: ActorRef; readonly message: Message };
type Operation = {
  /** The objects that the operation changes or depends on. Only operations with a common object are paired. */
  readonly at: readonly string[];
  order(fixture: ParentFixture, newId: () => string, by: string): Order;
};

/** The invariants of the whole database are checked once per this many pairs. */
const CHECK_EVERY = 10;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  subnet_create: {
    at: ["vpc"],
    order: (g, newId, by) => made("subnet", createdSubnet(g, { id: newId(), name: by, block: "10.0.2.0/24" })),
  },
  subnet_delete: { at: ["vpc", "empty_subnet"], order: (g) => gone("subnet", g.empty_subnet) },
  used_subnet_delete: { at: ["vpc", "subnet"], order: (g) => gone("subnet", g.subnet) },
  subnet_use_table: {
    at: ["vpc", "table", "subnet"],
    order: ({ tenant_id, project_id, vpc: vpc_id, table: id, subnet }) => ({
      to: { kind: "subnet", id: subnet },
      message: { type: "use_route_table", table: { id, tenant_id, project_id, vpc_id } },
    }),
  },
  table_delete: { at: ["vpc", "table"], order: (g) => gone("route-table", g.table) },
  route_create: {
    at: ["vpc", "table", "nat_gateway"],
    order: (g, newId, by) => made("route", createdRoute(g, newId(), by)),
  },
  nat_gateway_create: { at: ["vpc"], order: (g, newId, by) => nat(g, newId, by, g.vpc) },
  nat_gateway_delete: {
    at: ["vpc", "nat_gateway"],
    order: (g, newId) => gone("nat-gateway", g.nat_gateway, { operation_id: newId() }),
  },
  empty_vpc_delete: { at: ["empty_vpc"], order: (g) => gone("vpc", g.empty_vpc) },
  subnet_create_in_empty: {
    at: ["empty_vpc"],
    order: (g, newId, by) =>
      made(
        "subnet",
        createdSubnet(g, {
          id: newId(),
          name: by,
          block: "10.0.2.0/24",
          vpc_id: g.empty_vpc,
          route_table_id: g.empty_vpc_main,
        }),
      ),
  },
  table_create_in_empty: {
    at: ["empty_vpc"],
    order: ({ tenant_id, project_id, empty_vpc: vpc_id }, newId, by) =>
      made("route-table", {
        type: "create",
        id: newId(),
        tenant_id,
        project_id,
        vpc_id,
        name: by,
        description: "",
        is_main: false,
      }),
  },
  nat_gateway_create_in_empty: { at: ["empty_vpc"], order: (g, newId, by) => nat(g, newId, by, g.empty_vpc) },
  floating_ip_create: { at: ["project"], order: (g, newId, by) => floating(g, newId, by, g.project_id) },
  floating_ip_delete: { at: ["project", "floating_ip"], order: (g) => gone("floating-ip", g.floating_ip) },
  empty_project_delete: { at: ["empty_project"], order: (g) => gone("project", g.empty_project) },
  vpc_create_in_empty: {
    at: ["empty_project"],
    order: ({ tenant_id, empty_project: project_id }, newId, by) =>
      made("vpc", createdVpc({ tenant_id, project_id }, { id: newId(), main: newId(), name: by })),
  },
  floating_ip_create_in_empty: {
    at: ["empty_project"],
    order: (g, newId, by) => floating(g, newId, by, g.empty_project),
  },
  empty_tenant_delete: { at: ["empty_tenant"], order: (g) => gone("tenant", g.empty_tenant) },
  project_create_in_empty: {
    at: ["empty_tenant"],
    order: ({ empty_tenant: tenant_id }, newId, by) =>
      made("project", { type: "create", id: newId(), tenant_id, name: by, description: "" }),
  },
  instance_create: {
    at: ["vpc", "subnet", "image", "node", "project"],
    order: (g, newId, by) => made("instance", createdInstance(g, newId, by)),
  },
  image_delete: { at: ["image"], order: (g) => gone("image", g.image) },
  node_reset: {
    at: ["node"],
    order: ({ node }) => ({ to: { kind: "cn", id: node }, message: { type: "factory_reset" } }),
  },
  node_disable: { at: ["node"], order: ({ node }) => ({ to: { kind: "cn", id: node }, message: { type: "disable" } }) },
};

/** Runs the pairs, or only every nth of them. */
export async function runParentPairs(two: TwoEngines, every = 1): Promise<PairReport> {
  const site = await openSite(two);
  const report = newReport();
  const names = Object.keys(OPERATIONS);
  const pairs = names.flatMap((first, index) => names.slice(index).map((second) => [first, second] as const));
  const meeting = pairs.filter(([first, second]) =>
    OPERATIONS[first]!.at.some((parent) => OPERATIONS[second]!.at.includes(parent))
  );
  for (const [index, names] of meeting.entries()) {
    if (index % every !== 0 || report.violations.length >= VIOLATIONS_MAX) continue;
    await tryOperations(two, report, { site, names });
    if (report.pairs % CHECK_EVERY === 0) await checkAll(two, report);
  }
  await checkAll(two, report);
  return report;
}

export type Operations = { readonly site: Site; readonly names: readonly [string, string] };

/** Runs one pair of operations, given by name. */
export async function tryOperations(two: TwoEngines, report: PairReport, { site, names }: Operations): Promise<void> {
  await tryPair(two, report, {
    name: names.join(" and "),
    fixture: () => newParentFixture(two, site),
    act: async (fixture, party) => {
      const { engine, worker } = two.sides[party];
      const { to, message } = OPERATIONS[names[party]]!.order(fixture, two.newId, NAMES[party]);
      const outcome = await engine.send(to, message);
      if (outcome.ok) await worker.pass();
      return outcome;
    },
    left: async (fixture) => {
      await two.rest();
      return await leftOf(two, fixture);
    },
  });
}

const NAMES = ["first", "second"] as const;

function made(kind: string, message: Message): Order {
  return { to: { kind, id: String(message["id"]) }, message };
}

function gone(kind: string, id: string, more: object = {}): Order {
  return { to: { kind, id }, message: { type: "delete", ...more } };
}

function nat(
  { silo_id, tenant_id, project_id }: ParentFixture,
  newId: () => string,
  name: string,
  vpc_id: string,
): Order {
  return made("nat-gateway", {
    type: "create",
    id: newId(),
    ...ofFixedPool(silo_id, newId),
    tenant_id,
    project_id,
    vpc_id,
    name,
    description: "",
    operation_id: newId(),
  });
}

function floating(g: ParentFixture, newId: () => string, name: string, project_id: string): Order {
  return made("floating-ip", createdFloatingIp({ ...g, project_id }, { id: newId(), name }, newId));
}
