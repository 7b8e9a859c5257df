// Shows the external subnets, and the network pools if there are any. Creates external subnets and NIC tags.
import type { ExternalSubnet, NetworkPool, NicTag } from "../../src/contract/external-network.ts";
import { getAll, send } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import type { Query } from "../core/store.ts";
import { needs } from "../core/session.ts";
import { counted } from "../core/text.ts";
import { Section } from "../parts/basics.tsx";
import type { Column } from "../parts/list.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { useQuery } from "../parts/use-query.ts";
import { NAMED_FIELDS } from "./tenants.tsx";

const tagsQuery: Query<NicTag[]> = {
  key: "nic tags",
  kinds: ["nic-tag"],
  read: (signal) => getAll<NicTag>("/v1/system/nic-tags", {}, signal),
};

const COLUMNS: readonly Column<ExternalSubnet>[] = [
  { name: "name", title: "Subnet", sorts: true, text: ({ name }) => name, cell: ({ name }) => name },
  { name: "ipv4", title: "IPv4", text: ({ ipv4_block }) => ipv4_block, cell: ({ ipv4_block }) => ipv4_block },
  {
    name: "range",
    title: "For tenants",
    isWideOnly: true,
    text: ({ provision_start_ipv4, provision_end_ipv4 }) => `${provision_start_ipv4} ${provision_end_ipv4}`,
    cell: ({ provision_start_ipv4, provision_end_ipv4 }) =>
      provision_start_ipv4 === null ? "" : `${provision_start_ipv4} to ${provision_end_ipv4}`,
  },
  {
    name: "ipv6",
    title: "IPv6",
    isWideOnly: true,
    text: ({ ipv6_block }) => ipv6_block,
    cell: ({ ipv6_block }) => ipv6_block,
  },
  {
    name: "tag",
    title: "NIC tag",
    width: "120px",
    text: ({ nic_tag }) => nic_tag,
    cell: ({ nic_tag, vlan_id }) => vlan_id === null ? nic_tag : `${nic_tag}, VLAN ${vlan_id}`,
  },
  {
    name: "silos",
    title: "Silos",
    width: "80px",
    isWideOnly: true,
    isNumeric: true,
    text: ({ owner_silos }) => owner_silos.length,
    cell: ({ owner_silos }) => owner_silos.length === 0 ? "all" : owner_silos.length,
  },
];

export function Networks() {
  const { data: tags = [] } = useQuery(tagsQuery);
  const { data: pools = [] } = useQuery({
    key: "network pools",
    kinds: ["network-pool"],
    read: (signal) => getAll<NetworkPool>("/v1/system/network-pools", {}, signal),
  });
  const refused = needs("system-config-write");
  return (
    <ListPage<ExternalSubnet>
      title="External networks"
      noun="external subnet"
      query={{
        key: "external subnets",
        kinds: ["external-subnet"],
        read: (signal) => getAll<ExternalSubnet>("/v1/system/external-subnets", {}, signal),
      }}
      columns={COLUMNS}
      idOf={({ id }) => id}
      actions={[
        {
          title: "Create an external subnet",
          key: "c",
          button: "Create",
          fields: [
            ...NAMED_FIELDS,
            {
              name: "nic_tag",
              label: "NIC tag",
              type: "choice",
              choices: tags.map(({ name }) => ({ value: name, label: name })),
            },
            { name: "ipv4_block", label: "IPv4 block", isOptional: true, hint: "203.0.113.0/24" },
            { name: "ipv6_block", label: "IPv6 block", isOptional: true },
            { name: "vlan_id", label: "VLAN", type: "number", isOptional: true },
          ],
          refused: refused ?? (tags.length === 0 ? "Create a NIC tag first" : null),
          cli: ({ name = "", nic_tag, ipv4_block, ipv6_block, vlan_id }) =>
            opsctl("external-subnet create", [name || "NAME"], {
              "--nic-tag": nic_tag,
              "--ipv4-block": ipv4_block,
              "--ipv6-block": ipv6_block,
              "--vlan-id": vlan_id,
            }),
          send: async ({ vlan_id = "", ...values }, key) => {
            const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
            await send("POST", "/v1/system/external-subnets", {
              body: { ...given, ...(vlan_id !== "" && { vlan_id: Number(vlan_id) }) },
              key,
            });
          },
        },
        {
          title: "Create a NIC tag",
          button: "Create",
          notice: "A NIC tag names a physical network to which ports of nodes are connected.",
          fields: [...NAMED_FIELDS, { name: "mtu", label: "MTU", type: "number", initial: "1500" }],
          refused,
          cli: ({ name = "", mtu }) => opsctl("nic-tag create", [name || "NAME"], { "--mtu": mtu }),
          send: async ({ name, description, mtu }, key) => {
            await send("POST", "/v1/system/nic-tags", { body: { name, description, mtu: Number(mtu) }, key });
          },
        },
      ]}
      empty={
        <p>
          Tenants get no public address until an external subnet exists.
          {tags.length === 0 && " Create a NIC tag first, and then an external subnet on it."}
        </p>
      }
      cli={opsctl("external-subnet list")}
    >
      {pools.length > 0 && (
        <Section title="Pools" count={pools.length}>
          <ul class="plain">
            {pools.map(({ id, name, networks }) => (
              <li key={id}>
                {name}
                <span class="dim">{counted(networks.length, "network")}</span>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </ListPage>
  );
}
