// One VPC with its subnets, routes, gateways and firewall.
import type { NatGateway, Route, RouteTable, Subnet, Vpc } from "../../src/contract/network.ts";
import { type Action, useActions } from "../core/action.ts";
import { getAll, send } from "../core/client.ts";
import { tenantctl } from "../core/command.ts";
import { labelAction, labelTexts } from "../core/labels.ts";
import { writersOnly } from "../core/session.ts";
import { Actions } from "../parts/actions.tsx";
import { AsCommand, Copyable, Facts, Heading, Link, Problem, Section, When } from "../parts/basics.tsx";
import { RowLabels } from "../parts/row-labels.tsx";
import { useQuery } from "../parts/use-query.ts";
import { Firewall, ruleAction } from "./firewall.tsx";
import { inProject } from "./place.ts";
import { subnetsQuery, vpcQuery } from "./queries.ts";

export function VpcPage({ id }: { readonly id: string }) {
  const { data: vpc, refusal } = useQuery(vpcQuery(id));
  const subnets = useQuery(subnetsQuery(id));
  const gateways = useQuery({
    key: `gateways ${id}`,
    kinds: ["nat-gateway"],
    read: (signal) => getAll<NatGateway>("/v1/nat-gateways", { vpc: id }, signal),
  });
  const tables = useQuery({
    key: `route tables ${id}`,
    kinds: ["route-table"],
    read: (signal) => getAll<RouteTable>("/v1/route-tables", { vpc: id }, signal),
  });
  useActions(vpc === undefined ? [] : vpcActions(vpc));
  if (vpc === undefined) {
    return (
      <>
        <Heading title="VPC" />
        {refusal !== undefined && <Problem refusal={refusal} />}
      </>
    );
  }
  const place = { tenant: vpc.tenant_id, project: vpc.project_id };
  return (
    <>
      <Heading title={vpc.name} above={<Link to={inProject(place, "networks")}>Networks</Link>}>
        <Actions />
      </Heading>
      <Facts
        of={{
          "IPv4 block": vpc.ipv4_block,
          "IPv6 block": vpc.ipv6_block,
          "VNI": vpc.vni,
          "Labels": labelTexts(vpc.labels).join(", ") || null,
          "Created": <When at={vpc.created_at} />,
          "UUID": <Copyable text={vpc.id} label="the UUID" />,
        }}
      />
      <Section title="Subnets" count={subnets.data?.length}>
        {subnets.data?.length === 0 && <p class="dim">The VPC has no subnet.</p>}
        <ul class="plain">
          {(subnets.data ?? []).map((subnet) => <SubnetRow key={subnet.id} subnet={subnet} vpc={vpc} />)}
        </ul>
      </Section>
      <Firewall vpc={vpc} />
      <Section title="NAT gateways" count={gateways.data?.length}>
        {gateways.data?.length === 0 && <p class="dim">The VPC has no NAT gateway.</p>}
        <ul class="plain">
          {(gateways.data ?? []).map((gateway) => (
            <li key={gateway.id}>
              <Link to={`/nat-gateways/${gateway.id}`}>{gateway.name}</Link>
              <strong>{gateway.public_address}</strong>
              <span class="dim">{gateway.family}</span>
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Route tables" count={tables.data?.length}>
        {(tables.data ?? []).map((table) => <Routes key={table.id} table={table} vpc={vpc} />)}
      </Section>
      <AsCommand line={tenantctl("vpc show", [vpc.name])} />
    </>
  );
}

function SubnetRow({ subnet, vpc }: { readonly subnet: Subnet; readonly vpc: Vpc }) {
  const argv = ["tenantctl", "subnet", "update", subnet.name, "--vpc", vpc.name];
  return (
    <li>
      {subnet.name}
      <span>{[subnet.ipv4_block, subnet.ipv6_block].filter((block) => block !== null).join(", ")}</span>
      <span class="dim">{subnet.kind}</span>
      <RowLabels name={subnet.name} path={`/v1/subnets/${subnet.id}`} labels={subnet.labels} argv={argv} />
    </li>
  );
}

function Routes({ table, vpc }: { readonly table: RouteTable; readonly vpc: Vpc }) {
  const { data: routes = [] } = useQuery({
    key: `routes ${table.id}`,
    kinds: ["route"],
    read: (signal) => getAll<Route>("/v1/routes", { route_table: table.id }, signal),
  });
  return (
    <div class="card">
      <ul class="plain">
        <li>
          {table.name}
          {table.is_main && <span class="dim">the VPC's main table</span>}
          <RowLabels
            name={table.name}
            path={`/v1/route-tables/${table.id}`}
            labels={table.labels}
            argv={["tenantctl", "route-table", "update", table.name, "--vpc", vpc.name]}
          />
        </li>
        {routes.map((route) => (
          <li key={route.id}>
            {route.destination}
            <span class="dim">{route.target.kind}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function vpcActions(vpc: Vpc): Action[] {
  const refused = writersOnly();
  const query = { vpc: vpc.id, project: vpc.project_id };
  return [
    ruleAction(vpc),
    {
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
      refused,
      cli: ({ name, ipv4_block, ipv6_block }) =>
        tenantctl("subnet create", [], {
          "--vpc": vpc.name,
          "--name": name || "NAME",
          "--ipv4-block": ipv4_block,
          "--ipv6-block": ipv6_block,
        }),
      send: async (values, key) => {
        const body = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
        await send("POST", "/v1/subnets", { query, body, key });
      },
    },
    {
      title: "Create a NAT gateway",
      button: "Create",
      notice: "The instances of the VPC get a public source address.",
      fields: [{ name: "name", label: "Name", initial: "out" }],
      refused,
      cli: ({ name }) => tenantctl("nat-gateway create", [], { "--vpc": vpc.name, "--name": name || "NAME" }),
      send: async ({ name }, key) => {
        await send("POST", "/v1/nat-gateways", { query, body: { name }, key });
      },
    },
    labelAction({ path: `/v1/vpcs/${vpc.id}`, argv: ["tenantctl", "vpc", "update", vpc.name], labels: vpc.labels }),
    {
      title: "Delete the VPC",
      isDangerous: true,
      notice: "The VPC must have no subnet and no gateway.",
      fields: [{ name: "confirm", label: `Type ${vpc.name} to delete it`, mustBe: vpc.name }],
      refused,
      cli: () => tenantctl("vpc delete", [vpc.name]),
      send: async (_, key) => {
        await send("DELETE", `/v1/vpcs/${vpc.id}`, { key });
        return {
          to: inProject({ tenant: vpc.tenant_id, project: vpc.project_id }, "networks"),
          said: `${vpc.name} is deleted`,
        };
      },
    },
  ];
}
