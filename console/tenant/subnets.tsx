// Shows the subnets of a VPC, and their actions.
import type { RouteTable, Subnet, Vpc } from "../../src/contract/network.ts";
import type { Action } from "../core/action.ts";
import { type Refusal, send } from "../core/client.ts";
import { tenantctl } from "../core/command.ts";
import { labelAction } from "../core/labels.ts";
import { writersOnly } from "../core/session.ts";
import { Section } from "../parts/basics.tsx";
import { LabelsText } from "../parts/labels-text.tsx";
import { RowActions } from "../parts/row-actions.tsx";

export type SubnetsProps = {
  readonly vpc: Vpc;
  /** Undefined while the subnets are read. */
  readonly subnets: readonly Subnet[] | undefined;
  readonly tables: readonly RouteTable[];
  /** The refusal of the last read of the subnets. */
  readonly refusal: Refusal | undefined;
};

export function Subnets({ vpc, subnets, tables, refusal }: SubnetsProps) {
  return (
    <Section title="Subnets" count={subnets?.length} refusal={refusal}>
      {subnets?.length === 0 && <p class="dim">The VPC has no subnet.</p>}
      <ul class="plain">
        {(subnets ?? []).map((subnet) => (
          <li key={subnet.id}>
            <span>{subnet.name}</span>
            <span>{[subnet.ipv4_block, subnet.ipv6_block].filter((block) => block !== null).join(", ")}</span>
            <span class="dim">{subnet.kind}</span>
            <span class="dim">routes of {tables.find(({ id }) => id === subnet.route_table_id)?.name ?? "…"}</span>
            <LabelsText labels={subnet.labels} />
            <RowActions actions={subnetActions(subnet, vpc, tables)} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Returns the actions of a subnet, for its buttons and for the palette. */
export function subnetActions(subnet: Subnet, vpc: Vpc, tables: readonly RouteTable[]): readonly Action[] {
  const { id, name, labels } = subnet;
  const argv = ["tenantctl", "subnet", "update", name];
  return [
    labelAction({ path: `/v1/subnets/${id}`, argv, flags: { "--vpc": vpc.name }, labels, name: `subnet ${name}` }),
    chooseTable(subnet, vpc, tables),
    deleteSubnet(subnet, vpc),
  ];
}

export function createSubnet(vpc: Vpc): Action {
  return {
    title: "Create a subnet",
    key: "c",
    button: "Create",
    fields: [
      { name: "name", label: "Name" },
      {
        name: "ipv4_block",
        label: "IPv4 block",
        isOptional: true,
        hint: `Part of ${vpc.ipv4_block ?? "the VPC's block"}`,
      },
      { name: "ipv6_block", label: "IPv6 block", isOptional: true },
    ],
    refused: writersOnly(),
    cli: ({ name, ipv4_block, ipv6_block }) =>
      tenantctl("subnet create", [], {
        "--vpc": vpc.name,
        "--name": name || "NAME",
        "--ipv4-block": ipv4_block,
        "--ipv6-block": ipv6_block,
      }),
    send: async (values, key) => {
      const body = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
      await send("POST", "/v1/subnets", { query: { vpc: vpc.id, project: vpc.project_id }, body, key });
    },
  };
}

function chooseTable({ id, name, route_table_id }: Subnet, vpc: Vpc, tables: readonly RouteTable[]): Action {
  return {
    title: `Set the route table of subnet ${name}`,
    button: "Route table",
    notice: "Packets of the subnet's instances follow the routes of this table.",
    fields: [{
      name: "route_table_id",
      label: "Route table",
      type: "choice",
      choices: tables.map((table) => ({ value: table.id, label: table.name })),
      initial: route_table_id,
    }],
    refused: writersOnly(),
    cli: (values) =>
      tenantctl("subnet set-route-table", [name], {
        "--vpc": vpc.name,
        "--route-table": tables.find((table) => table.id === values["route_table_id"])?.name,
      }),
    send: async ({ route_table_id = "" }, key) => {
      await send("PUT", `/v1/subnets/${id}/route-table`, { body: { route_table_id }, key });
    },
  };
}

function deleteSubnet({ id, name }: Subnet, vpc: Vpc): Action {
  return {
    title: `Delete subnet ${name}`,
    button: "Delete",
    isDangerous: true,
    notice: "The subnet must have no NIC.",
    refused: writersOnly(),
    cli: () => tenantctl("subnet delete", [name], { "--vpc": vpc.name }),
    send: async (_, key) => {
      await send("DELETE", `/v1/subnets/${id}`, { key });
      return { said: `${name} is deleted` };
    },
  };
}
