import type { Subnet } from "../../../src/contract/network.ts";
import type { Kind } from "../record/kind.ts";

export const SUBNET: Kind<Subnet> = {
  noun: "subnet",
  singular: "subnet",
  plural: "subnets",
  title: "Subnet",
  path: "/v1/subnets",
  sample: "front",
  parent: "vpc",
  needs_vpc: true,
  columns: [
    ["ID", (subnet) => subnet.id],
    ["NAME", (subnet) => subnet.name],
    ["VPC", (subnet) => subnet.vpc],
  ],
  lines: (subnet) => [
    ["id", subnet.id],
    ["name", subnet.name],
    ["vpc", subnet.vpc],
  ],
};
