import type { NatGateway } from "../../../src/contract/network.ts";
import type { Kind } from "../record/kind.ts";

export const NAT_GATEWAY: Kind<NatGateway> = {
  noun: "nat-gateway",
  singular: "NAT gateway",
  plural: "NAT gateways",
  title: "NAT gateway",
  path: "/v1/nat-gateways",
  sample: "out",
  parent: "vpc",
  sends_project: true,
  columns: [
    ["ID", (gateway) => gateway.id],
    ["NAME", (gateway) => gateway.name],
    ["PUBLIC_ADDR", (gateway) => gateway.public_address],
  ],
  lines: (gateway) => [
    ["id", gateway.id],
    ["name", gateway.name],
    ["vpc", gateway.vpc],
    ["project", gateway.project],
    ["public_address", gateway.public_address],
    ["family", gateway.family],
  ],
};
