// Shows the floating IPs of a project, and the actions that create, attach, move, detach, label and delete them.
import type { FloatingIp } from "../../src/contract/network.ts";
import { useMemo } from "preact/hooks";
import type { Action, Choice } from "../core/action.ts";
import { isCut, send } from "../core/client.ts";
import { tenantctl } from "../core/command.ts";
import { labelAction } from "../core/labels.ts";
import { namedNics, type Names, namesOf } from "../core/members.ts";
import { writersOnly } from "../core/session.ts";
import { Link } from "../parts/basics.tsx";
import { createdColumn, LABELS_COLUMN } from "../parts/columns.tsx";
import type { Column } from "../parts/list.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { useQuery } from "../parts/use-query.ts";
import type { Place } from "./place.ts";
import { useKept } from "./projects.tsx";
import { floatingIpsQuery, instancesQuery, nicField, projectNicsQuery } from "./queries.ts";

const instanceOf = ({ attached_instance_id: id }: FloatingIp, names: Names) => id === null ? null : names.get(id) ?? id;

function columnsWith(names: Names): readonly Column<FloatingIp>[] {
  return [
    { name: "name", title: "Name", sorts: true, text: ({ name }) => name, cell: ({ name }) => name },
    {
      name: "address",
      title: "Address",
      sorts: true,
      text: ({ address }) => address,
      cell: ({ address }) => <strong>{address}</strong>,
    },
    {
      name: "instance",
      title: "Attached to",
      text: (ip) => instanceOf(ip, names),
      cell: (ip) =>
        ip.attached_instance_id === null
          ? <span class="dim">nothing</span>
          : <Link to={`/instances/${ip.attached_instance_id}`}>{instanceOf(ip, names)}</Link>,
    },
    LABELS_COLUMN,
    createdColumn(true),
  ];
}

export function FloatingIps({ place }: { readonly place: Place }) {
  useKept(place);
  const { data: nics } = useQuery(projectNicsQuery(place));
  const { data: instances } = useQuery(instancesQuery(place));
  const names = useMemo(() => namesOf(instances ?? []), [instances]);
  const columns = useMemo(() => columnsWith(names), [names]);
  const targets = useMemo(() =>
    namedNics(nics ?? [], names).map((nic): Choice => ({
      value: nic.id,
      label: `${nic.instance}, ${nic.name}, ${nic.primary_ipv4 ?? nic.primary_ipv6 ?? "no address"}`,
    })), [nics, names]);
  return (
    <ListPage<FloatingIp>
      title="Floating IPs"
      noun="floating IP"
      query={floatingIpsQuery(place)}
      columns={columns}
      idOf={({ id }) => id}
      actionsOf={(ip) => [
        attach(ip, targets, instanceOf(ip, names), isCut(nics)),
        ...(ip.attached_to === null ? [] : [detach(ip)]),
        label(ip),
        remove(ip),
      ]}
      actions={[{
        title: "Create a floating IP",
        key: "c",
        button: "Create",
        fields: [
          { name: "name", label: "Name" },
          {
            name: "family",
            label: "Family",
            type: "choice",
            choices: [{ value: "v4", label: "IPv4" }, { value: "v6", label: "IPv6" }],
            initial: "v4",
          },
        ],
        refused: writersOnly(),
        cli: ({ name, family }) =>
          tenantctl("floating-ip create", [], { "--name": name || "NAME", "--family": family }),
        send: async ({ name, family }, key) => {
          const made = await send<FloatingIp>("POST", "/v1/floating-ips", {
            query: { ...place },
            body: { name, family },
            key,
          });
          return { said: `Floating IP ${made.name} is created: ${made.address}` };
        },
      }]}
      empty={<p>The project has no floating IPs.</p>}
      cli={tenantctl("floating-ip list")}
    />
  );
}

function attach(ip: FloatingIp, targets: readonly Choice[], from: string | null, hasMore: boolean): Action {
  return {
    title: ip.attached_to === null ? `Attach ${ip.address}` : `Move ${ip.address}`,
    button: ip.attached_to === null ? "Attach" : "Move",
    notice: ip.attached_to === null
      ? "Afterwards the instance gets the packets to this address."
      : `The address is detached from ${from} first. Packets to it are lost until it is attached again.`,
    fields: [nicField(targets.filter(({ value }) => value !== ip.attached_to), hasMore)],
    refused: writersOnly() ?? (targets.length === 0 ? "The project has no NIC" : null),
    cli: ({ nic_id }) => tenantctl("floating-ip attach", [ip.name], { "--nic": nic_id || "NIC" }),
    send: async ({ nic_id }, key) => {
      await send("POST", `/v1/floating-ips/${ip.id}/attach`, { body: { nic_id }, key, respondAsync: true });
      return { said: `${ip.address} is being attached` };
    },
  };
}

function detach(ip: FloatingIp): Action {
  return {
    title: `Detach ${ip.address}`,
    button: "Detach",
    refused: writersOnly(),
    cli: () => tenantctl("floating-ip detach", [ip.name]),
    send: async (_, key) => {
      await send("POST", `/v1/floating-ips/${ip.id}/detach`, { key, respondAsync: true });
    },
  };
}

function label({ id, name, address, labels }: FloatingIp): Action {
  const argv = ["tenantctl", "floating-ip", "update", name];
  return labelAction({ path: `/v1/floating-ips/${id}`, argv, labels, name: address });
}

function remove(ip: FloatingIp): Action {
  return {
    title: `Delete ${ip.address}`,
    button: "Delete",
    isDangerous: true,
    notice: "Another tenant may get the address.",
    refused: writersOnly() ?? (ip.attached_to === null ? null : "Detach the address first"),
    cli: () => tenantctl("floating-ip delete", [ip.name]),
    send: async (_, key) => {
      await send("DELETE", `/v1/floating-ips/${ip.id}`, { key });
    },
  };
}
