// Shows the NICs of an instance, and their actions.
import type { Instance, Nic, NicBody, NicPatch } from "../../src/contract/instance.ts";
import type { Subnet } from "../../src/contract/network.ts";
import type { Action } from "../core/action.ts";
import { send } from "../core/client.ts";
import { tenantctl } from "../core/command.ts";
import { editing } from "../core/editing.ts";
import { labelAction } from "../core/labels.ts";
import { writersOnly } from "../core/session.ts";
import { Link, Section } from "../parts/basics.tsx";
import { LabelsText } from "../parts/labels-text.tsx";
import { RowActions } from "../parts/row-actions.tsx";
import { useQuery } from "../parts/use-query.ts";
import { nicsQuery } from "./queries.ts";

export function Nics({ instance }: { readonly instance: Instance }) {
  const { data: nics, refusal } = useQuery(nicsQuery(instance.id));
  return (
    <Section title="Network" count={nics?.length} refusal={refusal}>
      <ul class="plain">
        {(nics ?? []).map((nic) => (
          <li key={nic.id}>
            <span>{nic.name}</span>
            <Link to={`/vpcs/${nic.vpc_id}`}>{nic.primary_ipv4 ?? nic.primary_ipv6 ?? "no address"}</Link>
            {nic.floating_ips.map((address) => <strong key={address}>{address}</strong>)}
            {[...nic.additional_ips, ...nic.allowed_cidrs].map((text) => <span key={text}>{text}</span>)}
            <code class="dim">{nic.mac}</code>
            <LabelsText labels={nic.labels} />
            <RowActions actions={nicActions(nic, instance)} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Returns the actions of a NIC, for its buttons and for the palette. */
export function nicActions(nic: Nic, instance: Instance): readonly Action[] {
  const argv = ["tenantctl", "nic", "update", nic.name];
  return [
    labelAction({
      path: `/v1/nics/${nic.id}`,
      argv,
      flags: { "--instance": instance.name },
      labels: nic.labels,
      name: `NIC ${nic.name}`,
    }),
    changeAddresses(nic, instance),
    removeNic(nic, instance),
  ];
}

/** Adds a NIC. `subnets` are the subnets of the project, with the names of their VPCs. */
export function addNic(instance: Instance, subnets: readonly (Subnet & { readonly vpc_name: string })[]): Action {
  const { id, name: instance_name } = instance;
  const named = (wanted: string | undefined) => subnets.find((subnet) => subnet.id === wanted);
  return {
    title: "Add a NIC",
    button: "Add",
    notice: "The next start gives the NIC to the guest.",
    fields: [
      { name: "name", label: "Name", hint: "Unique among the NICs of the instance" },
      {
        name: "subnet_id",
        label: "Subnet",
        type: "choice",
        choices: subnets.map((subnet) => ({ value: subnet.id, label: `${subnet.vpc_name} / ${subnet.name}` })),
        initial: subnets[0]?.id ?? "",
      },
      { name: "primary_ipv4", label: "IPv4 address", isOptional: true, hint: "Empty: the lowest free address" },
      { name: "primary_ipv6", label: "IPv6 address", isOptional: true, hint: "Empty: the lowest free address" },
    ],
    refused: writersOnly() ?? unlessStopped(instance) ?? (subnets.length === 0 ? "The project has no subnet" : null),
    cli: ({ name, subnet_id, primary_ipv4, primary_ipv6 }) =>
      tenantctl("nic create", [], {
        "--name": name || "NAME",
        "--instance": instance_name,
        "--subnet": named(subnet_id)?.name,
        "--vpc": named(subnet_id)?.vpc_name,
        "--ipv4": primary_ipv4,
        "--ipv6": primary_ipv6,
      }),
    send: async ({ name = "", subnet_id = "", primary_ipv4 = "", primary_ipv6 = "" }, key) => {
      const body: Partial<NicBody> = {
        name,
        subnet_id,
        ...(primary_ipv4 !== "" && { primary_ipv4 }),
        ...(primary_ipv6 !== "" && { primary_ipv6 }),
      };
      await send("POST", "/v1/nics", { query: { instance: id }, body, key });
    },
  };
}

function changeAddresses({ id, name, additional_ips, allowed_cidrs }: Nic, instance: Instance): Action {
  return editing({
    title: `Change the addresses of NIC ${name}`,
    button: "Addresses",
    notice: "The nodes apply the change at once. The guest configures further addresses itself.",
    fields: [
      {
        name: "additional_ips",
        label: "Further addresses",
        type: "lines",
        isOptional: true,
        initial: additional_ips.join("\n"),
        hint: "One free address of the subnet in each line",
      },
      {
        name: "allowed_cidrs",
        label: "Allowed blocks",
        type: "lines",
        isOptional: true,
        initial: allowed_cidrs.join("\n"),
        hint: "One CIDR block in each line, from which the guest may also send",
      },
    ],
    refused: writersOnly(),
    cli: ({ additional_ips: ips, allowed_cidrs: blocks }) =>
      tenantctl("nic update", [name], {
        "--instance": instance.name,
        "--additional-ip": linesOf(ips),
        "--no-additional-ips": ips !== undefined && linesOf(ips).length === 0,
        "--allow-cidr": linesOf(blocks),
        "--no-allowed-cidrs": blocks !== undefined && linesOf(blocks).length === 0,
      }),
    send: async ({ additional_ips: ips, allowed_cidrs: blocks }, key) => {
      const body: NicPatch = {
        ...(ips !== undefined && { additional_ips: linesOf(ips) }),
        ...(blocks !== undefined && { allowed_cidrs: linesOf(blocks) }),
      };
      await send("PATCH", `/v1/nics/${id}`, { body, key });
    },
  });
}

function removeNic({ id, name, floating_ips }: Nic, instance: Instance): Action {
  return {
    title: `Remove NIC ${name}`,
    button: "Remove",
    isDangerous: true,
    notice: "Its addresses return to the subnet. An instance keeps its first NIC.",
    refused: writersOnly() ??
      (floating_ips.length > 0 ? "Detach its floating IP first" : null) ??
      unlessStopped(instance),
    cli: () => tenantctl("nic delete", [name], { "--instance": instance.name }),
    send: async (_, key) => {
      await send("DELETE", `/v1/nics/${id}`, { key });
      return { said: `${name} is removed` };
    },
  };
}

function unlessStopped({ name, lifecycle: { state } }: Instance): string | null {
  return state === "stopped" ? null : `${name} is ${state}; stop it first`;
}

function linesOf(text = ""): string[] {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}
