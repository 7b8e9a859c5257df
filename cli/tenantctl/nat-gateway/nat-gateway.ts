import type { NatGateway } from "../../../src/contract/network.ts";
import { PENDING_COLUMN } from "../record/realized.ts";
import type { Kind } from "../record/kind.ts";
import { ID_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";

export const NAT_GATEWAY: Kind<NatGateway> = {
  noun: "nat-gateway",
  singular: "NAT gateway",
  plural: "NAT gateways",
  title: "NAT gateway",
  path: "/v1/nat-gateways",
  has_labels: true,
  waits: true,
  sample: "out",
  parent: "vpc",
  sends_project: true,
  columns: [
    ["NAME", (gateway) => gateway.name],
    ["ID", (gateway) => gateway.id, ID_COLUMN],
    ["PUBLIC_ADDR", (gateway) => gateway.public_address],
    ["NETWORK", (gateway) => gateway.network_id, WIDE_COLUMN],
    ["CONNECTIONS", (gateway) => gateway.counts?.connections, WIDE_COLUMN],
    PENDING_COLUMN,
  ],
  lines: (gateway) => [
    ["id", gateway.id],
    ["name", gateway.name],
    ["vpc", gateway.vpc],
    ["project", gateway.project],
    ["public_address", gateway.public_address],
    ["family", gateway.family],
    ["network", gateway.network_id],
    ["connections", gateway.counts?.connections],
  ],
};
