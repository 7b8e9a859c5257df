import type { PortForward } from "../../../src/contract/port-forward.ts";
import { ID_COLUMN, WIDE_ID_COLUMN } from "../../internal/table.ts";
import { PENDING_COLUMN } from "../record/realized.ts";
import type { Kind } from "../record/kind.ts";

export const PORT_FORWARD: Kind<PortForward> = {
  noun: "port-forward",
  singular: "port forward",
  plural: "port forwards",
  title: "Port forward",
  path: "/v1/port-forwards",
  has_labels: true,
  sample: "https",
  parent: "vpc",
  sends_project: true,
  columns: [
    ["NAME", (forward) => forward.name],
    ["ID", (forward) => forward.id, ID_COLUMN],
    ["PROTO", (forward) => forward.protocol],
    ["PORT", (forward) => forward.public_port],
    ["NIC", (forward) => forward.nic_id, ID_COLUMN],
    ["NIC_PORT", (forward) => forward.nic_port],
    ["NAT_GATEWAY", (forward) => forward.nat_gateway_id, WIDE_ID_COLUMN],
    PENDING_COLUMN,
  ],
  lines: (forward) => [
    ["id", forward.id],
    ["name", forward.name],
    ["description", forward.description],
    ["vpc", forward.vpc],
    ["project", forward.project],
    ["nat_gateway", forward.nat_gateway_id],
    ["protocol", forward.protocol],
    ["public_port", forward.public_port],
    ["nic", forward.nic_id],
    ["nic_port", forward.nic_port],
  ],
};
