// Reads the records of a project in the form of a manifest: names identify the records, also in references.
import type { Disk, Instance, Nic } from "../../../src/contract/instance.ts";
import type {
  FirewallRule,
  FloatingIp,
  NatGateway,
  Route,
  RouteTable,
  RouteTarget,
  Subnet,
  Vpc,
} from "../../../src/contract/network.ts";
import type { PlacementGroup } from "../../../src/contract/placement-group.ts";
import type { PortForward } from "../../../src/contract/port-forward.ts";
import { inParallel } from "../../internal/in-parallel.ts";
import { visibleImages } from "../image/image.ts";
import { FIRST_NIC } from "../nic/nic.ts";
import type { TenantIo } from "../open-io.ts";
import { projectScope } from "../scope.ts";
import { ownKeys } from "../ssh-key/ssh-key.ts";
import { entryOf } from "../../internal/manifest/kind.ts";
import type { Existing } from "../../internal/manifest/plan.ts";
import { kindOf, type ListName } from "./kind.ts";

export const REQUESTS_AT_A_TIME = 8;
const BOOT_DISK_KIND = "boot";

export type Project = {
  readonly existing: readonly Existing[];
  /** Ids of the images that the project can use, by name. */
  readonly images: ReadonlyMap<string, string>;
  /**
   * Ids of images that share a name, by name. For example, a public image and one of the project have the same name.
   */
  readonly shared_names: ReadonlyMap<string, readonly string[]>;
  /** The instances that do not run. They may have an operation that has not ended, such as a creation or a deletion. */
  readonly unsettled: readonly Pick<Instance, "id" | "name">[];
  /** The data disks, which a manifest does not describe, as `INSTANCE/DISK`. */
  readonly data_disks: readonly string[];
  /** The names of the floating IPs with an address of an external subnet, which a manifest does not describe. */
  readonly network_ips: readonly string[];
};

type Names = ReadonlyMap<string, string>;

export async function readProject(io: TenantIo): Promise<Project> {
  const scope = await projectScope(io);
  const [vpcs, ips, groups, instances, nics, keys, images] = await Promise.all([
    io.all<Vpc>("/v1/vpcs", scope),
    io.all<FloatingIp>("/v1/floating-ips", scope),
    io.all<PlacementGroup>("/v1/placement-groups", scope),
    io.all<Instance>("/v1/instances", scope),
    io.all<Nic>("/v1/nics", scope),
    ownKeys(io),
    visibleImages(io),
  ]);
  const networks = await inParallel(REQUESTS_AT_A_TIME, vpcs, ({ id }) => readNetwork(io, id));
  const disks = await inParallel(
    REQUESTS_AT_A_TIME,
    instances,
    ({ id }) => io.all<Disk>("/v1/disks", { instance: id }),
  );
  const name_of = namesOf(
    [vpcs, ips, groups, instances, images, ...networks.map((each) => Object.values(each).flat())].flat(),
  );
  const subnets = networks.flatMap((each) => each.subnets);
  const existing = [
    ...keys.map((key) => record("ssh_keys", key, pick(key, ["description", "labels", "public_key"]))),
    ...vpcs.map((vpc) => record("vpcs", vpc, pick(vpc, ["description", "labels", "ipv4_block", "ipv6_block"]))),
    ...ips.map((ip) => floatingIp(ip, { nics, name_of })),
    ...networks.flatMap((network) => networkRecords(network, name_of)),
    ...groups.map((group) =>
      record("placement_groups", group, pick(group, ["description", "labels", "policy", "level", "strictness"]))
    ),
    ...instances.map((instance, at) => instanceRecord(instance, { disks: disks[at]!, subnets, nics, name_of })),
  ];
  const data_disks = disks.flat().filter(({ kind }) => kind !== BOOT_DISK_KIND)
    .map(({ name, instance }) => `${name_of.get(instance)}/${name}`);
  const network_ips = ips.filter(({ network_id }) => network_id != null).map(({ name }) => name);
  const by_name = Map.groupBy(images, ({ name }) => name);
  const shared_names = new Map(
    [...by_name].filter(([, each]) => each.length > 1).map(([name, each]) => [name, each.map(({ id }) => id)]),
  );
  const unsettled = instances.filter(({ lifecycle: { state } }) => state !== "running");
  return {
    existing,
    images: new Map(images.map(({ name, id }) => [name, id])),
    shared_names,
    unsettled,
    data_disks,
    network_ips,
  };
}

/**
 * Returns what an export leaves out: port forwards, data disks and the external subnets of floating IPs. Examples:
 * `port forwards main/https`, `data disks web1/data`.
 */
export async function leftOut(io: TenantIo, { existing, data_disks, network_ips }: Project): Promise<string[]> {
  const vpcs = existing.filter(({ list }) => list === "vpcs");
  const forwards = await inParallel(REQUESTS_AT_A_TIME, vpcs, async ({ id, key }) => {
    const found = await io.all<PortForward>("/v1/port-forwards", { vpc: id });
    return found.map(({ name }) => `${key}/${name}`);
  });
  const left = [
    ["port forwards", forwards.flat()],
    ["data disks", data_disks],
    ["the external subnets of the floating IPs", network_ips],
  ] as const;
  return left.filter(([, names]) => names.length > 0).map(([plural, names]) => `${plural} ${names.join(", ")}`);
}

type Network = {
  readonly gateways: readonly NatGateway[];
  readonly tables: readonly RouteTable[];
  readonly routes: readonly Route[];
  readonly subnets: readonly Subnet[];
  readonly rules: readonly FirewallRule[];
};

async function readNetwork(io: TenantIo, vpc: string): Promise<Network> {
  const [gateways, tables, subnets, rules] = await Promise.all([
    io.all<NatGateway>("/v1/nat-gateways", { vpc }),
    io.all<RouteTable>("/v1/route-tables", { vpc }),
    io.all<Subnet>("/v1/subnets", { vpc }),
    io.all<FirewallRule>("/v1/firewall-rules", { vpc }),
  ]);
  const routes = await inParallel(
    REQUESTS_AT_A_TIME,
    tables,
    ({ id }) => io.all<Route>("/v1/routes", { route_table: id }),
  );
  return { gateways, tables, subnets, rules, routes: routes.flat() };
}

function networkRecords({ gateways, tables, routes, subnets, rules }: Network, name_of: Names): Existing[] {
  const vpcOf = ({ vpc }: { readonly vpc: string }) => ({ vpc: name_of.get(vpc) });
  return [
    ...gateways.map((each) =>
      record("nat_gateways", each, {
        ...vpcOf(each),
        ...pick(each, ["description", "labels", "family", "network_id"]),
      })
    ),
    ...tables.map((each) => ({
      ...record("route_tables", each, { ...vpcOf(each), ...pick(each, ["description", "labels"]) }),
      removable: !each.is_main,
    })),
    ...routes.map((each) =>
      record("routes", each, {
        ...vpcOf(each),
        route_table: name_of.get(each.route_table_id),
        ...pick(each, ["description", "labels", "destination"]),
        target: targetValue(each.target, name_of),
      })
    ),
    ...subnets.map((each) =>
      record("subnets", each, {
        ...vpcOf(each),
        ...pick(each, ["description", "labels", "ipv4_block", "ipv6_block"]),
        route_table: name_of.get(each.route_table_id),
      })
    ),
    ...rules.map((each) => firewallRecord(each, name_of.get(each.vpc))),
  ];
}

/** Returns a firewall rule as a record of a manifest. `vpc` is the name of the rule's VPC. */
export function firewallRecord(rule: FirewallRule, vpc: string | undefined): Existing {
  const fields = [
    "description",
    "labels",
    "priority",
    "direction",
    "action",
    "protocol",
    "source_cidr",
    "destination_cidr",
    "source_ports",
    "destination_ports",
    "icmp_type_code",
  ] as const;
  return record("firewall_rules", rule, { vpc, ...pick(rule, fields) });
}

function targetValue(target: RouteTarget, name_of: Names): unknown {
  const { kind } = target;
  return kind === "nat_gateway" ? { kind, nat_gateway: name_of.get(target.nat_gateway_id) } : { kind };
}

function floatingIp(ip: FloatingIp, { nics, name_of }: { nics: readonly Nic[]; name_of: Names }): Existing {
  const nic = nics.find(({ id }) => id === ip.attached_to);
  const attached_to = nic === undefined ? null : { instance: name_of.get(nic.instance_id), nic: nic.name };
  return record("floating_ips", ip, { ...pick(ip, ["description", "labels", "family"]), attached_to });
}

type OfInstance = {
  readonly disks: readonly Disk[];
  readonly subnets: readonly Subnet[];
  readonly nics: readonly Nic[];
  readonly name_of: Names;
};

function instanceRecord(instance: Instance, { disks, subnets, nics, name_of }: OfInstance): Existing {
  const subnet = subnets.find(({ id }) => id === instance.primary_subnet_id);
  const extra = nics.filter(({ instance_id, name }) => instance_id === instance.id && name !== FIRST_NIC);
  return record("instances", instance, {
    ...pick(instance, ["description", "labels"]),
    image: name_of.get(instance.image_id) ?? instance.image_id,
    vpc: subnet === undefined ? null : name_of.get(subnet.vpc),
    primary_subnet: subnet?.name ?? null,
    cpu: instance.cpu,
    memory_bytes: instance.memory_bytes,
    disk_bytes: disks.find(({ kind }) => kind === BOOT_DISK_KIND)?.size_bytes ?? null,
    placement_group: instance.placement_group_id === null ? null : name_of.get(instance.placement_group_id),
    deletion_protection: instance.deletion_protection,
    extra_nics: extra.map(({ name, subnet_id }) => ({ subnet: name_of.get(subnet_id), name })),
  });
}

type Named = { readonly id: string; readonly name: string };

function record(list: ListName, { id, name }: Named, rest: Readonly<Record<string, unknown>>): Existing {
  return { ...entryOf(kindOf(list), { name, ...rest }), id, removable: true };
}

function pick<T>(from: T, fields: readonly (keyof T & string)[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field, from[field]]));
}

function namesOf(records: readonly Named[]): Names {
  return new Map(records.map(({ id, name }) => [id, name]));
}
