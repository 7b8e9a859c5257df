import type { Vpc } from "../../../src/contract/network.ts";
import type { Kind } from "../record/kind.ts";

export const VPC: Kind<Vpc> = {
  noun: "vpc",
  singular: "VPC",
  plural: "VPCs",
  title: "Vpc",
  path: "/v1/vpcs",
  sample: "web",
  parent: "project",
  columns: [
    ["ID", (vpc) => vpc.id],
    ["NAME", (vpc) => vpc.name],
    ["VNI", (vpc) => vpc.vni],
  ],
  lines: (vpc) => [
    ["id", vpc.id],
    ["name", vpc.name],
    ["vni", vpc.vni],
    ["project", vpc.project],
  ],
};
