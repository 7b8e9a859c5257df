// A port forward of a NAT gateway: connections to a TCP or UDP port of the gateway's public address go to a port of a
// NIC in the VPC (docs/networking.md, "Port forwards"). When an instance is removed, the port forwards to its NICs are
// deleted without audit entries of their own. The delete of a single NIC is refused while a port forward leads to it.
import { badRequest, conflict, type Fault, NOT_FOUND } from "../../src/contract/fault.ts";
import type { AddressFamily, PortForwardProtocol } from "../../src/contract/enums.ts";
import { PORT_FORWARDS_MAX } from "../../src/contract/limits.ts";
import type { PortForward } from "../../src/contract/port-forward.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { guard, lock } from "../engine/effects.ts";
import { type Create, type Delete, record, type RecordState, type Update } from "../record/record.ts";
import { vpcChanged } from "../record/vpc-change.ts";
import type { VpcMember, VpcPlace } from "../vpc/state.ts";

type Columns = VpcMember & {
  readonly nat_gateway_id: string;
  readonly nic_id: string;
  readonly protocol: PortForwardProtocol;
  readonly public_port: number;
  readonly nic_port: number;
};

type Fields = Columns & {
  /**
   * The scope and the address families of the gateway and of the NIC. They never change. Null for an object that does
   * not exist.
   */
  readonly gateway: (VpcPlace & { readonly family: AddressFamily }) | null;
  readonly nic: (VpcPlace & { readonly families: readonly AddressFamily[] }) | null;
};

export type PortForwardMessage = Create<Fields> | Update | Delete;
export type PortForwardState = RecordState<Columns>;

const NOTED = ["name", "vpc_id", "nat_gateway_id", "nic_id", "protocol", "public_port", "nic_port"] as const;

export const portForward = record<PortForwardState, PortForwardMessage, PortForward>({
  kind: "port-forward",
  table: "port_forward",
  noun: "port forward",
  resource: "PortForward",
  parent: ({ vpc_id }) => lockKey("vpc", vpc_id),
  create: {
    action: "port_forward_create",
    note: NOTED,
    row: ({ type: _type, gateway, nic, ...columns }) => faultOf(columns, gateway, nic) ?? columns,
    parts: (row) => [
      vpcChanged(row),
      lock(lockKey("nat-gateway", row.nat_gateway_id)),
      guard(
        "nat_gateway_has_room",
        { id: row.nat_gateway_id, max: PORT_FORWARDS_MAX },
        `nat gateway ${row.nat_gateway_id} already has ${PORT_FORWARDS_MAX} port forwards`,
      ),
    ],
  },
  update: { action: "port_forward_update" },
  delete: { action: "port_forward_delete", note: NOTED, parts: (row) => [vpcChanged(row)] },
  has_labels: true,
  view: (row) => ({
    id: row.id,
    tenant_id: row.tenant_id,
    project_id: row.project_id,
    project: row.project_id,
    vpc_id: row.vpc_id,
    vpc: row.vpc_id,
    name: row.name,
    description: row.description,
    labels: row.labels ?? {},
    nat_gateway_id: row.nat_gateway_id,
    nic_id: row.nic_id,
    protocol: row.protocol,
    public_port: row.public_port,
    nic_port: row.nic_port,
    realized: null,
    created_at: toRfc3339(row.created_at),
  }),
  constraints: {
    port_forward_name: conflict("a port forward named <name> already exists in this vpc"),
    port_forward_port: conflict("the nat gateway already forwards <protocol> port <public_port>"),
    port_forward_vpc_fkey: NOT_FOUND,
    port_forward_nat_gateway_fkey: NOT_FOUND,
    port_forward_nic_fkey: NOT_FOUND,
  },
});

function faultOf(
  of: Omit<Columns, "state">,
  gateway: Fields["gateway"],
  nic: Fields["nic"],
): Fault | null {
  const isForeign = (place: VpcPlace | null) =>
    place === null || place.tenant_id !== of.tenant_id || place.project_id !== of.project_id;
  if (isForeign(gateway) || isForeign(nic)) return NOT_FOUND;
  if (gateway!.vpc_id !== of.vpc_id) return badRequest(`nat gateway ${of.nat_gateway_id} is not in vpc ${of.vpc_id}`);
  if (nic!.vpc_id !== of.vpc_id) return badRequest(`nic ${of.nic_id} is not in vpc ${of.vpc_id}`);
  return nic!.families.includes(gateway!.family)
    ? null
    : conflict(`nic ${of.nic_id} has no ${gateway!.family} address, but nat gateway ${of.nat_gateway_id} has one`);
}
