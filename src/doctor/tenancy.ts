// Checks INV-15 and INV-16: a tenant's objects are in its projects, and each object fits its parent.
import { SUBNET_ADDRESSES_KEPT } from "../contract/limits.ts";
import { type Check, invariant } from "./check.ts";
import { recordsIn, type Scope } from "./scope.ts";

/** The tables of projects' objects, and the actor kind that changes their rows. */
const OF_PROJECTS = {
  vpc: "vpc",
  route_table: "route-table",
  subnet: "subnet",
  route: "route",
  firewall_rule: "firewall-rule",
  port_forward: "port-forward",
  webhook: "webhook",
  nat_gateway: "nat-gateway",
  floating_ip: "floating-ip",
  placement_group: "placement-group",
  instance: "instance",
  nic: "instance",
  disk: "instance",
} as const;
type Table = keyof typeof OF_PROJECTS;
const OF_ALL = Object.keys(OF_PROJECTS) as Table[];
const IN_VPC: readonly Table[] = [
  "route_table",
  "subnet",
  "route",
  "firewall_rule",
  "nat_gateway",
  "nic",
  "port_forward",
];

/**
 * SQL of the rows to check. In the scope `recent`, these are the rows of the actors with a transition in the newest
 * part of the log. Other rows have not changed, because only a transition changes them.
 */
const rowsIn = (scope: Scope, table: Table) =>
  recordsIn(scope, {
    kind: OF_PROJECTS[table],
    table,
    key: table === "nic" || table === "disk" ? "instance_id" : "id",
  });

const unionOf = (scope: Scope, tables: readonly Table[], columns: string) =>
  tables.map((table) => `select '${table}' as kind, ${columns} from ${rowsIn(scope, table)} r`).join(" union all ");

/** SQL of the instances that changed, and of the instances on nodes that changed. */
const instancesOfNodesIn = (scope: Scope) => {
  const changed = rowsIn(scope, "instance");
  if (scope === "all") return changed;
  return `(select * from ${changed} i union
           select i.* from ${recordsIn(scope, { kind: "cn", table: "cn", key: "server_uuid" })} c
             join instance i on i.host_cn_uuid = c.server_uuid)`;
};

export const tenancyChecks = (scope: Scope): readonly Check[] => [
  invariant(
    "INV-15",
    "each object belongs to the tenant of its project",
    `
    select format('%s %s of project %s and tenant %s', c.kind, c.id, c.project_id, c.tenant_id) as what
      from (${unionOf(scope, OF_ALL, "id, tenant_id, project_id")}) c left join project p on p.id = c.project_id
     where p.tenant_id is distinct from c.tenant_id`,
  ),
  invariant(
    "INV-15",
    "each object in a VPC belongs to the VPC's project",
    `
    select format('%s %s of project %s in VPC %s', c.kind, c.id, c.project_id, c.vpc_id) as what
      from (${unionOf(scope, IN_VPC, "id, tenant_id, project_id, vpc_id")}) c left join vpc v on v.id = c.vpc_id
     where (v.tenant_id, v.project_id) is distinct from (c.tenant_id, c.project_id)`,
  ),
  invariant(
    "INV-15",
    "disks and NICs belong to the project of their instance",
    `
    select format('%s %s of instance %s', c.kind, c.id, c.instance_id) as what
      from (${unionOf(scope, ["nic", "disk"], "id, instance_id, tenant_id, project_id")}) c
      left join instance i on i.id = c.instance_id
     where (i.tenant_id, i.project_id) is distinct from (c.tenant_id, c.project_id)`,
  ),
  invariant(
    "INV-16",
    "a subnet is inside its VPC and overlaps no other subnet",
    `
    select format('subnet %s (%s, %s)', s.id, s.ipv4_block, s.ipv6_block) as what
      from subnet s join vpc v on v.id = s.vpc_id
     where s.ipv4_block <<= v.ipv4_block is not true and s.ipv4_block is not null
        or s.ipv6_block <<= v.ipv6_block is not true and s.ipv6_block is not null
        or exists (select from subnet o where o.vpc_id = s.vpc_id and o.id <> s.id
                     and (o.ipv4_block && s.ipv4_block or o.ipv6_block && s.ipv6_block))`,
  ),
  invariant(
    "INV-16",
    "a NIC's address is in the range of its subnet",
    `
    select format('nic %s has %s, %s of subnet %s', n.id, host(n.primary_ipv4), host(n.primary_ipv6), s.id) as what
      from ${rowsIn(scope, "nic")} n join subnet s on s.id = n.subnet_id
     where n.primary_ipv4 is not null and (n.primary_ipv4 << s.ipv4_block is not true
              or n.primary_ipv4 - host(s.ipv4_block)::inet < ${SUBNET_ADDRESSES_KEPT}
              or host(n.primary_ipv4) = host(broadcast(s.ipv4_block)))
        or n.primary_ipv6 is not null and (n.primary_ipv6 << s.ipv6_block is not true
              or n.primary_ipv6 - host(s.ipv6_block)::inet < ${SUBNET_ADDRESSES_KEPT})`,
  ),
  invariant(
    "INV-16",
    "a route and its NAT gateway have the same VPC and address family, and the VPC has a block of that family",
    `
    select format('route %s to %s', r.id, r.destination) as what
      from ${rowsIn(scope, "route")} r join vpc v on v.id = r.vpc_id left join nat_gateway g on g.id = r.nat_gateway_id
     where r.nat_gateway_id is not null and (g.vpc_id is distinct from r.vpc_id
              or g.family <> 'v' || family(r.destination))
        or (case family(r.destination) when 4 then v.ipv4_block else v.ipv6_block end) is null`,
  ),
  invariant(
    "INV-16",
    "an instance is on an existing node that was set up",
    `
    select format('instance %s (%s) on node %s (%s)', i.id, i.state, i.host_cn_uuid, coalesce(c.state, 'gone')) as what
      from ${instancesOfNodesIn(scope)} i left join cn c on c.server_uuid = i.host_cn_uuid
     where i.host_cn_uuid is not null and (c.state is null or c.unproven
        or c.state not in ('approved', 'disabled', 'pending'))`,
  ),
  invariant(
    "INV-16",
    "a floating IP that is attached names an existing NIC of its instance, or its release is in progress",
    `
    select format('floating ip %s at nic %s of instance %s', f.id, f.attached_to, f.attached_instance_id) as what
      from floating_ip f left join nic n on n.id = f.attached_to
     where f.attached_to is not null and n.instance_id is distinct from f.attached_instance_id
       and not exists (select from outbox o where o.to_kind = 'floating-ip' and o.to_id = f.id::text)`,
  ),
];
