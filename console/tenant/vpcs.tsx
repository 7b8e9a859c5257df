// Shows the VPCs of a project.
import type { Vpc } from "../../src/contract/network.ts";
import { tenantctl } from "../core/command.ts";
import { AsCommand, Link } from "../parts/basics.tsx";
import { createdColumn, LABELS_COLUMN } from "../parts/columns.tsx";
import type { Column } from "../parts/list.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { createVpc } from "./create-vpc.ts";
import type { Place } from "./place.ts";
import { useKept } from "./projects.tsx";
import { vpcsQuery } from "./queries.ts";

const COLUMNS: readonly Column<Vpc>[] = [
  {
    name: "name",
    title: "VPC",
    sorts: true,
    text: ({ name }) => name,
    cell: ({ id, name }) => <Link to={`/vpcs/${id}`} tabIndex={-1}>{name}</Link>,
  },
  { name: "ipv4", title: "IPv4", text: ({ ipv4_block }) => ipv4_block, cell: ({ ipv4_block }) => ipv4_block },
  {
    name: "ipv6",
    title: "IPv6",
    isWideOnly: true,
    text: ({ ipv6_block }) => ipv6_block,
    cell: ({ ipv6_block }) => ipv6_block,
  },
  {
    name: "vni",
    title: "VNI",
    width: "100px",
    isNumeric: true,
    isWideOnly: true,
    text: ({ vni }) => vni,
    cell: ({ vni }) => vni,
  },
  LABELS_COLUMN,
  createdColumn(),
];

export function Vpcs({ place }: { readonly place: Place }) {
  useKept(place);
  return (
    <ListPage<Vpc>
      title="VPCs"
      noun="VPC"
      query={vpcsQuery(place)}
      columns={COLUMNS}
      idOf={({ id }) => id}
      open={({ id }) => `/vpcs/${id}`}
      actions={[createVpc(place)]}
      empty={
        <>
          <p>The project has no VPC. Instances need one.</p>
          <AsCommand line={tenantctl("vpc create", [], { "--name": "main", "--ipv4-block": "10.0.0.0/16" })} />
        </>
      }
      cli={tenantctl("vpc list")}
    />
  );
}
