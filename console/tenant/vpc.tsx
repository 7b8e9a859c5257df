// Shows one VPC with its subnets, routes, gateways and firewall.
import type { NatGateway, Vpc } from "../../src/contract/network.ts";
import { type Action, useActions } from "../core/action.ts";
import { getAll, send } from "../core/client.ts";
import { tenantctl } from "../core/command.ts";
import { labelAction, labelTexts } from "../core/labels.ts";
import { writersOnly } from "../core/session.ts";
import { Actions } from "../parts/actions.tsx";
import { AsCommand, Copyable, Facts, Heading, Link, Problem, Section, When } from "../parts/basics.tsx";
import { useQuery } from "../parts/use-query.ts";
import { Firewall, firewallQuery, labelRule, ruleAction } from "./firewall.tsx";
import { inProject } from "./place.ts";
import { useProjectOf } from "./projects.tsx";
import { subnetsQuery, vpcQuery } from "./queries.ts";
import { allRouteActions, createTable, Routes, routesQuery } from "./routes.tsx";
import { createSubnet, subnetActions, Subnets } from "./subnets.tsx";

export function VpcPage({ id }: { readonly id: string }) {
  const { data: vpc, refusal } = useQuery(vpcQuery(id));
  useProjectOf(vpc);
  const subnets = useQuery(subnetsQuery(id));
  const gateways = useQuery({
    key: `gateways ${id}`,
    kinds: ["nat-gateway"],
    read: (signal) => getAll<NatGateway>("/v1/nat-gateways", { vpc: id }, signal),
  });
  const routes = useQuery(routesQuery(id));
  const firewall = useQuery(firewallQuery(id));
  const tables = (routes.data ?? []).map(({ table }) => table);
  useActions(
    vpc === undefined ? [] : [
      ...vpcActions(vpc),
      ...(subnets.data ?? []).flatMap((subnet) => subnetActions(subnet, vpc, tables)),
      ...(firewall.data?.rules ?? []).map((rule) => labelRule(rule, vpc.name)),
      ...allRouteActions({ vpc, all: routes.data, gateways: gateways.data ?? [] }),
    ],
  );
  if (vpc === undefined) {
    return (
      <>
        <Heading title="VPC" />
        {refusal !== undefined && <Problem refusal={refusal} lookedFor={`VPC ${id}`} />}
      </>
    );
  }
  const place = { tenant: vpc.tenant_id, project: vpc.project_id };
  return (
    <>
      <Heading title={vpc.name} above={<Link to={inProject(place, "networks")}>VPCs</Link>}>
        <Actions />
      </Heading>
      {refusal !== undefined && <Problem refusal={refusal} lookedFor={`VPC ${id}`} isLate />}
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
      <Subnets vpc={vpc} subnets={subnets.data} tables={tables} refusal={subnets.refusal} />
      <Firewall vpc={vpc} />
      <Section title="NAT gateways" count={gateways.data?.length} refusal={gateways.refusal}>
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
      <Routes vpc={vpc} all={routes.data} gateways={gateways.data ?? []} refusal={routes.refusal} />
      <AsCommand line={tenantctl("vpc show", [vpc.name])} />
    </>
  );
}

function vpcActions(vpc: Vpc): Action[] {
  const refused = writersOnly();
  const query = { vpc: vpc.id, project: vpc.project_id };
  return [
    ruleAction(vpc),
    createSubnet(vpc),
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
    createTable(vpc),
    labelAction({ path: `/v1/vpcs/${vpc.id}`, argv: ["tenantctl", "vpc", "update", vpc.name], labels: vpc.labels }),
    {
      title: "Delete the VPC",
      isDangerous: true,
      notice: "The VPC must have no subnet, no firewall rule, no NAT gateway and no route table other than main.",
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
