import type { Nic } from "../../../src/contract/instance.ts";
import { PENDING_COLUMN } from "../record/realized.ts";
import type { Kind } from "../record/kind.ts";
import { ID_COLUMN } from "../../internal/table.ts";

/** The server's name of an instance's first NIC. */
export const FIRST_NIC = "primary";

export const NIC_NAME_HELP = "UUID or unique UUID prefix; with --instance also a name";
export const OF_INSTANCE_HELP = "instance of the NIC: UUID, unique UUID prefix or name";

export const NIC: Kind<Nic> = {
  noun: "nic",
  singular: "NIC",
  plural: "NICs",
  title: "NIC",
  path: "/v1/nics",
  has_labels: true,
  sample: "net0",
  parent: "instance",
  columns: [
    ["NAME", (nic) => nic.name],
    ["ID", (nic) => nic.id, ID_COLUMN],
    ["INSTANCE", (nic) => nic.instance_id, ID_COLUMN],
    ["IPV4", (nic) => nic.primary_ipv4],
    ["IPV6", (nic) => nic.primary_ipv6],
    ["MAC", (nic) => nic.mac],
    ["FLOATING_IPS", (nic) => nic.floating_ips.join(",")],
    PENDING_COLUMN,
  ],
  lines: (nic) => [
    ["id", nic.id],
    ["name", nic.name],
    ["instance", nic.instance_id],
    ["vpc", nic.vpc_id],
    ["subnet", nic.subnet_id],
    ["mac", nic.mac],
    ["primary_ipv4", nic.primary_ipv4],
    ["primary_ipv6", nic.primary_ipv6],
    ["additional_ips", nic.additional_ips.join(",")],
    ["allowed_cidrs", nic.allowed_cidrs.join(",")],
    ["floating_ips", nic.floating_ips.join(",")],
  ],
};
