// Writes networking.json, which configures the network of the booted platform. The file contains the platform's
// address, because by default (answer_only_pxe) the booter does not answer DHCP requests of the platform.
import { ipv4Text, maskOf } from "../ipv4.ts";
import type { BootFacts } from "../api-client/wire.ts";

const ADMIN = "admin";
/** The VLAN of an untagged network in networking.json. */
const UNTAGGED = 0;

export function networkingJson({ mac, hostname, networking }: BootFacts): string {
  if (networking === null) throw new Error("the boot record has no address, so networking.json cannot be written");
  const { address, prefix_len, gateway, vlan_id, resolvers, nic_tags, aggregate } = networking;
  const tags = [...new Set([ADMIN, ...nic_tags])];
  const port = aggregate === undefined ? { mac } : { mac: aggregate.name };
  const document = {
    hostname: networking.hostname ?? hostname ?? undefined,
    admin_tag: ADMIN,
    nictags: tags.map((name) => ({ name, ...port })),
    resolvers,
    routes: {},
    vnics: [{
      nic_tag: ADMIN,
      mac,
      ip: address,
      netmask: ipv4Text(maskOf(prefix_len)),
      ...(gateway === null ? {} : { gateway }),
      vlan_id: vlan_id ?? UNTAGGED,
    }],
    aggregations: aggregate === undefined
      ? []
      : [{ name: aggregate.name, lacp_mode: aggregate.mode, macs: aggregate.macs, nic_tags_provided: tags }],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}
