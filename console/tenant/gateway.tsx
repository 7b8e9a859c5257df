// Shows one NAT gateway: its public address, and the ports that it forwards to NICs.
import type { NatGateway } from "../../src/contract/network.ts";
import type { PortForward, PortForwardBody } from "../../src/contract/port-forward.ts";
import { PORT_FORWARD_PROTOCOLS } from "../../src/contract/enums.ts";
import { PORT_MAX } from "../../src/contract/limits.ts";
import { useMemo } from "preact/hooks";
import { type Action, type Choice, useActions } from "../core/action.ts";
import { get, getAll, isCut, type Refusal, send } from "../core/client.ts";
import { tenantctl, updates } from "../core/command.ts";
import { editing } from "../core/editing.ts";
import { labelAction, labelTexts } from "../core/labels.ts";
import { type NamedNic, namedNics, namesOf } from "../core/members.ts";
import type { Query } from "../core/store.ts";
import { isOperator, writersOnly } from "../core/session.ts";
import { Actions } from "../parts/actions.tsx";
import { AsCommand, Copyable, Facts, Heading, Link, Problem, Section, When } from "../parts/basics.tsx";
import { createdColumn, LABELS_COLUMN } from "../parts/columns.tsx";
import type { Column } from "../parts/list.tsx";
import { WholeList } from "../parts/lists.tsx";
import { Named } from "../parts/named.tsx";
import { useQuery } from "../parts/use-query.ts";
import { ExternalSubnetOf } from "./external-subnet-of.tsx";
import { useProjectOf } from "./projects.tsx";
import { realizedText } from "./realized.ts";
import { instancesQuery, nicField, projectNicsQuery, vpcQuery } from "./queries.ts";

function gatewayQuery(id: string): Query<NatGateway> {
  return {
    key: `gateway ${id}`,
    kinds: ["nat-gateway"],
    read: (signal) => get<NatGateway>(`/v1/nat-gateways/${id}`, undefined, signal),
  };
}

/** Reads the gateway's port forwards. The API lists port forwards by VPC, so this function filters them by gateway. */
function forwardsQuery({ id, vpc_id: vpc, project_id: project }: NatGateway): Query<readonly PortForward[]> {
  return {
    key: `port forwards ${id}`,
    kinds: ["port-forward"],
    read: async (signal) =>
      (await getAll<PortForward>("/v1/port-forwards", { vpc, project }, signal))
        .filter(({ nat_gateway_id }) => nat_gateway_id === id),
  };
}

export function GatewayPage({ id }: { readonly id: string }) {
  const { data: gateway, refusal } = useQuery(gatewayQuery(id));
  useProjectOf(gateway);
  if (gateway !== undefined) return <Gateway gateway={gateway} refusal={refusal} />;
  return (
    <>
      <Heading title="NAT gateway" />
      {refusal !== undefined && <Problem refusal={refusal} lookedFor={`NAT gateway ${id}`} />}
    </>
  );
}

function Gateway({ gateway, refusal }: { readonly gateway: NatGateway; readonly refusal: Refusal | undefined }) {
  const { id, name, vpc_id, public_address, family, network_id, host_cn_uuid, counts, realized } = gateway;
  const place = { tenant: gateway.tenant_id, project: gateway.project_id };
  const { data: found } = useQuery(vpcQuery(vpc_id));
  const vpc = found?.name ?? vpc_id;
  const { data: nics } = useQuery(projectNicsQuery(place));
  const { data: instances } = useQuery(instancesQuery(place));
  const forwards = useQuery(forwardsQuery(gateway));
  const addressOf = (nic: NamedNic) => family === "v4" ? nic.primary_ipv4 : nic.primary_ipv6;
  const named = useMemo(
    () => namedNics((nics ?? []).filter((nic) => nic.vpc_id === vpc_id), namesOf(instances ?? [])),
    [nics, instances, vpc_id],
  );
  const targets = named.filter((nic) => addressOf(nic) !== null).map((nic): Choice => ({
    value: nic.id,
    label: `${nic.instance}, ${nic.name}, ${addressOf(nic)}`,
  }));
  const argv = ["tenantctl", "nat-gateway", "update", name];
  useActions([
    forwardAction(gateway, vpc, targets, isCut(nics)),
    labelAction({ path: `/v1/nat-gateways/${id}`, argv, flags: { "--vpc": vpc }, labels: gateway.labels }),
    deleteAction(gateway, vpc, forwards.data?.length ?? 0),
  ]);
  const byId = useMemo(() => new Map(named.map((nic) => [nic.id, nic])), [named]);
  const nicOf = (forward: PortForward) => byId.get(forward.nic_id);
  const columns: readonly Column<PortForward>[] = [
    { name: "name", title: "Name", sorts: true, text: (row) => row.name, cell: (row) => row.name },
    {
      name: "port",
      title: "Public port",
      sorts: true,
      width: "120px",
      text: ({ public_port }) => public_port,
      cell: ({ public_port, protocol }) => <strong>{public_port}/{protocol}</strong>,
    },
    {
      name: "to",
      title: "To",
      text: (row) => {
        const nic = nicOf(row);
        return nic === undefined ? row.nic_id : `${nic.instance} ${addressOf(nic) ?? ""}`;
      },
      cell: (row) => {
        const nic = nicOf(row);
        if (nic === undefined) return <code>{row.nic_id}</code>;
        return <Link to={`/instances/${nic.instance_id}`} tabIndex={-1}>{nic.instance}</Link>;
      },
    },
    {
      name: "nic_port",
      title: "Its port",
      sorts: true,
      width: "90px",
      text: ({ nic_port }) => nic_port,
      cell: ({ nic_port }) => nic_port,
    },
    {
      name: "applied",
      title: "On the node",
      isWideOnly: true,
      text: (row) => realizedText(row.realized),
      cell: (row) => realizedText(row.realized),
    },
    LABELS_COLUMN,
    createdColumn(true),
  ];
  return (
    <>
      <Heading title={name} above={<Link to={`/vpcs/${vpc_id}`}>{vpc}</Link>}>
        <Actions />
      </Heading>
      {refusal !== undefined && <Problem refusal={refusal} lookedFor={`NAT gateway ${id}`} isLate />}
      <Facts
        of={{
          "Public address": <Copyable text={public_address} label="the public address" />,
          "Family": family,
          "External subnet": network_id == null ? null : <ExternalSubnetOf id={network_id} family={family} />,
          "Runs on": host_cn_uuid === null
            ? "no node yet"
            : isOperator()
            ? <Named scope="cn" id={host_cn_uuid} />
            : <code>{host_cn_uuid}</code>,
          "Connections": counts === null ? null : counts.connections,
          "On the node": realizedText(realized),
          "Labels": labelTexts(gateway.labels).join(", ") || null,
          "Created": <When at={gateway.created_at} />,
          "UUID": <Copyable text={id} label="the UUID" />,
        }}
      />
      <Section title="Port forwards" count={forwards.data?.length}>
        <WholeList<PortForward>
          label="Port forwards"
          isPart
          columns={columns}
          query={forwardsQuery(gateway)}
          idOf={(row) => row.id}
          actionsOf={(row) => [renameForward(row, vpc), labelForward(row, vpc), deleteForward(row, vpc)]}
          empty={
            <p>
              The gateway forwards no port. Instances of the VPC can open connections through it, but receive none from
              outside.
            </p>
          }
        />
      </Section>
      <AsCommand line={tenantctl("port-forward list", [], { "--vpc": vpc })} />
    </>
  );
}

function labelForward({ id, name, labels }: PortForward, vpc: string): Action {
  const argv = ["tenantctl", "port-forward", "update", name];
  return labelAction({ path: `/v1/port-forwards/${id}`, argv, flags: { "--vpc": vpc }, labels, name });
}

/** `vpc` is the name of the VPC, for the command line. */
function forwardAction(
  { id, name: gateway, vpc_id, project_id }: NatGateway,
  vpc: string,
  targets: readonly Choice[],
  hasMore: boolean,
): Action {
  return {
    title: "Forward a port",
    key: "c",
    button: "Forward",
    notice: "Connections to the port of the public address go to the NIC. The firewall of the VPC must allow them.",
    fields: [
      { name: "name", label: "Name", hint: "Unique in the VPC" },
      {
        name: "protocol",
        label: "Protocol",
        type: "choice",
        choices: PORT_FORWARD_PROTOCOLS.map((value) => ({ value, label: value.toUpperCase() })),
        initial: PORT_FORWARD_PROTOCOLS[0],
      },
      { name: "public_port", label: "Public port", type: "number", hint: `1 to ${PORT_MAX}` },
      { ...nicField(targets, hasMore), initial: targets[0]?.value ?? "" },
      { name: "nic_port", label: "Port of the NIC", type: "number", isOptional: true, hint: "Empty: the public port" },
    ],
    refused: writersOnly() ??
      (targets.length === 0 && !hasMore ? "The VPC has no NIC with an address of this family" : null),
    cli: (values) =>
      tenantctl("port-forward create", [], {
        "--vpc": vpc,
        "--name": values["name"] || "NAME",
        "--nat-gateway": gateway,
        "--protocol": values["protocol"],
        "--port": values["public_port"] || "PORT",
        "--nic": values["nic_id"] || "NIC",
        "--nic-port": values["nic_port"],
      }),
    send: async ({ name = "", protocol, public_port, nic_id = "", nic_port = "" }, key) => {
      const body: Partial<PortForwardBody> = {
        name,
        nat_gateway_id: id,
        nic_id,
        public_port: Number(public_port),
        ...(protocol !== undefined && { protocol: protocol as PortForwardBody["protocol"] }),
        ...(nic_port !== "" && { nic_port: Number(nic_port) }),
      };
      await send("POST", "/v1/port-forwards", { query: { vpc: vpc_id, project: project_id }, body, key });
      return { said: `Port ${public_port} is forwarded` };
    },
  };
}

function renameForward({ id, name, description }: PortForward, vpc: string): Action {
  return editing({
    title: `Rename ${name}`,
    button: "Save",
    fields: [
      { name: "name", label: "Name", initial: name },
      { name: "description", label: "Description", isOptional: true, initial: description },
    ],
    refused: writersOnly(),
    cli: (values) =>
      tenantctl("port-forward update", [name], {
        ...updates({ "--name": values["name"], "--description": values["description"] }),
        "--vpc": vpc,
      }),
    send: async (values, key) => {
      await send("PATCH", `/v1/port-forwards/${id}`, { body: values, key });
    },
  });
}

function deleteForward({ id, name, public_port }: PortForward, vpc: string): Action {
  return {
    title: `Delete ${name}`,
    button: "Delete",
    isDangerous: true,
    notice: `New connections to port ${public_port} of the public address are refused.`,
    refused: writersOnly(),
    cli: () => tenantctl("port-forward delete", [name], { "--vpc": vpc }),
    send: async (_, key) => {
      await send("DELETE", `/v1/port-forwards/${id}`, { key });
      return { said: `${name} is deleted` };
    },
  };
}

function deleteAction({ id, name, vpc_id }: NatGateway, vpc: string, forwards: number): Action {
  return {
    title: "Delete the gateway",
    button: "Delete",
    isDangerous: true,
    notice: "Instances without a floating IP can no longer open connections to the internet. The address is freed.",
    fields: [{ name: "confirm", label: `Type ${name} to delete it`, mustBe: name }],
    refused: writersOnly() ?? (forwards > 0 ? "Delete its port forwards first" : null),
    cli: () => tenantctl("nat-gateway delete", [name], { "--vpc": vpc }),
    send: async (_, key) => {
      await send("DELETE", `/v1/nat-gateways/${id}`, { key, respondAsync: true });
      return { said: `${name} is being deleted`, to: `/vpcs/${vpc_id}` };
    },
  };
}
