// Shows the route tables of a VPC with their routes, and their actions.
import type { NatGateway, Route, RouteBody, RouteTable, RouteTarget, Vpc } from "../../src/contract/network.ts";
import type { Action, Choice } from "../core/action.ts";
import { getAll, type Refusal, send } from "../core/client.ts";
import { tenantctl } from "../core/command.ts";
import { labelAction } from "../core/labels.ts";
import { writersOnly } from "../core/session.ts";
import type { Query } from "../core/store.ts";
import { Section } from "../parts/basics.tsx";
import { LabelsText } from "../parts/labels-text.tsx";
import { RowActions } from "../parts/row-actions.tsx";

export type RoutesOfTable = { readonly table: RouteTable; readonly routes: readonly Route[] };

/** Reads the route tables of a VPC with their routes. */
export function routesQuery(vpc: string): Query<readonly RoutesOfTable[]> {
  return {
    key: `routes ${vpc}`,
    kinds: ["route-table", "route"],
    read: async (signal) => {
      const tables = await getAll<RouteTable>("/v1/route-tables", { vpc }, signal);
      const routesOf = (table: RouteTable) => getAll<Route>("/v1/routes", { route_table: table.id }, signal);
      return await Promise.all(tables.map(async (table) => ({ table, routes: await routesOf(table) })));
    },
  };
}

export type RoutesProps = {
  readonly vpc: Vpc;
  /** Undefined while the route tables are read. */
  readonly all: readonly RoutesOfTable[] | undefined;
  readonly gateways: readonly NatGateway[];
};

export function Routes({ vpc, all, gateways, refusal }: RoutesProps & { readonly refusal: Refusal | undefined }) {
  return (
    <Section title="Route tables" count={all?.length} refusal={refusal}>
      {(all ?? []).map(({ table, routes }) => (
        <div key={table.id} class="card">
          <ul class="plain">
            <li>
              <span>{table.name}</span>
              {table.is_main && <span class="dim">the VPC's main table</span>}
              <LabelsText labels={table.labels} />
              <RowActions actions={tableActions({ table, routes }, vpc, gateways)} />
            </li>
            {routes.map((route) => (
              <li key={route.id}>
                <span>{route.name}</span>
                <span>{route.destination}</span>
                <span class="dim">{targetText(route.target, gateways)}</span>
                <LabelsText labels={route.labels} />
                <RowActions actions={routeActions(route, table, vpc)} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </Section>
  );
}

/** Returns the actions of all tables and routes, for the palette. */
export function allRouteActions({ vpc, all, gateways }: RoutesProps): readonly Action[] {
  return (all ?? []).flatMap((each) => [
    ...tableActions(each, vpc, gateways),
    ...each.routes.flatMap((route) => routeActions(route, each.table, vpc)),
  ]);
}

function targetText(target: RouteTarget, gateways: readonly NatGateway[]): string {
  const text = TARGETS[target.kind];
  if (target.kind !== "nat_gateway") return text;
  return `${text} ${gateways.find(({ id }) => id === target.nat_gateway_id)?.name ?? target.nat_gateway_id}`;
}

const TARGETS: Readonly<Record<RouteTarget["kind"], string>> = {
  blackhole: "dropped",
  reject: "rejected with an error",
  virtual_gateway: "to the VPC's router",
  nat_gateway: "to the NAT gateway",
  floating_ip: "to a floating IP",
};

function tableActions({ table, routes }: RoutesOfTable, vpc: Vpc, gateways: readonly NatGateway[]): readonly Action[] {
  const { id, name, labels } = table;
  const argv = ["tenantctl", "route-table", "update", name];
  const actions = [
    createRoute(table, vpc, gateways),
    labelAction({
      path: `/v1/route-tables/${id}`,
      argv,
      flags: { "--vpc": vpc.name },
      labels,
      name: `route table ${name}`,
    }),
  ];
  return table.is_main ? actions : [...actions, deleteTable(table, vpc, routes.length)];
}

function routeActions(route: Route, table: RouteTable, vpc: Vpc): readonly Action[] {
  const { id, name, labels } = route;
  const argv = ["tenantctl", "route", "update", name];
  return [
    labelAction({
      path: `/v1/routes/${id}`,
      argv,
      flags: { "--route-table": table.name, "--vpc": vpc.name },
      labels,
      name: `route ${name} of ${table.name}`,
    }),
    deleteRoute(route, table, vpc),
  ];
}

export function createTable(vpc: Vpc): Action {
  return {
    title: "Create a route table",
    button: "Create",
    notice: "A subnet uses the main table until you set another one.",
    fields: [{ name: "name", label: "Name", hint: "Unique in the VPC" }],
    refused: writersOnly(),
    cli: ({ name }) => tenantctl("route-table create", [], { "--vpc": vpc.name, "--name": name || "NAME" }),
    send: async ({ name }, key) => {
      await send("POST", "/v1/route-tables", { query: { vpc: vpc.id, project: vpc.project_id }, body: { name }, key });
    },
  };
}

/** A kind of target without an object. In the form, a target is such a kind or the id of a NAT gateway. */
type ObjectlessKind = "blackhole" | "reject" | "virtual_gateway";
const OBJECTLESS: readonly ObjectlessKind[] = ["blackhole", "reject", "virtual_gateway"];
const FLAGS: Readonly<Record<ObjectlessKind, string>> = {
  blackhole: "--target-blackhole",
  reject: "--target-reject",
  virtual_gateway: "--target-virtual-gateway",
};

function createRoute(table: RouteTable, vpc: Vpc, gateways: readonly NatGateway[]): Action {
  const choices: readonly Choice[] = [
    ...gateways.map(({ id, name }) => ({ value: id, label: `${TARGETS.nat_gateway} ${name}` })),
    ...OBJECTLESS.map((kind) => ({ value: kind, label: TARGETS[kind] })),
  ];
  const objectless = (target: string) => OBJECTLESS.find((kind) => kind === target);
  return {
    title: `Add a route to ${table.name}`,
    button: "Add a route",
    fields: [
      { name: "name", label: "Name", hint: "Unique in the route table" },
      { name: "destination", label: "Destination", hint: "A CIDR block, such as 0.0.0.0/0" },
      { name: "target", label: "Packets go", type: "choice", choices, initial: choices[0]?.value ?? "" },
    ],
    refused: writersOnly(),
    cli: ({ name, destination, target = "" }) => {
      const kind = objectless(target);
      return tenantctl("route create", [], {
        "--vpc": vpc.name,
        "--route-table": table.name,
        "--name": name || "NAME",
        "--destination": destination || "CIDR",
        ...(kind === undefined
          ? { "--target-nat-gateway": gateways.find(({ id }) => id === target)?.name }
          : { [FLAGS[kind]]: true }),
      });
    },
    send: async ({ name = "", destination = "", target = "" }, key) => {
      const kind = objectless(target);
      const body: Partial<RouteBody> = {
        name,
        destination,
        target: kind === undefined ? { kind: "nat_gateway", nat_gateway_id: target } : { kind },
      };
      await send("POST", "/v1/routes", { query: { route_table: table.id }, body, key });
    },
  };
}

function deleteTable({ id, name }: RouteTable, vpc: Vpc, routes: number): Action {
  return {
    title: `Delete route table ${name}`,
    button: "Delete",
    isDangerous: true,
    notice: "No subnet may use the table.",
    refused: writersOnly() ?? (routes > 0 ? "Delete its routes first" : null),
    cli: () => tenantctl("route-table delete", [name], { "--vpc": vpc.name }),
    send: async (_, key) => {
      await send("DELETE", `/v1/route-tables/${id}`, { key });
      return { said: `${name} is deleted` };
    },
  };
}

function deleteRoute({ id, name, destination }: Route, table: RouteTable, vpc: Vpc): Action {
  return {
    title: `Delete route ${name} of ${table.name}`,
    button: "Delete",
    isDangerous: true,
    notice: `Packets to ${destination} follow the next matching route of the table.`,
    refused: writersOnly(),
    cli: () => tenantctl("route delete", [name], { "--route-table": table.name, "--vpc": vpc.name }),
    send: async (_, key) => {
      await send("DELETE", `/v1/routes/${id}`, { key });
      return { said: `${name} is deleted` };
    },
  };
}
