import type { ExternalSubnet } from "../../../src/contract/external-network.ts";
import { type AnyCommand, command, each, wholeNumber } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { DESCRIPTION_OPTION } from "../../internal/named-patch.ts";
import { findTag } from "../nic-tag/tag.ts";
import { titleOf } from "../../internal/record-name.ts";
import { OWNER_OPTION, resolveOwners } from "../silo/silo.ts";
import { EXTERNAL_SUBNETS_PATH } from "./subnet.ts";

export function create(): AnyCommand {
  return command(
    "create",
    "Create a subnet of public IPv4 or IPv6 addresses, or both",
    "public-1 --nic-tag external --ipv4-block 203.0.113.0/24",
  )
    .argument("<name>", "1 to 63 bytes, without / or \\")
    .requiredOption("--nic-tag <nic-tag>", "NIC tag of the network that routes the addresses: name or UUID")
    .option("--vlan-id <number>", "VLAN on that network; by default untagged", wholeNumber(0))
    .option("--ipv4-block <cidr>", "block of IPv4 addresses, such as 203.0.113.0/24")
    .option(
      "--provision-start-ipv4 <address>",
      "first address for tenants; by default the first after the gateway",
    )
    .option(
      "--provision-end-ipv4 <address>",
      "last address for tenants; by default the last before the broadcast address",
    )
    .option("--ipv6-block <cidr>", "block of IPv6 addresses, such as 2001:db8:1::/64")
    .option(
      "--provision-start-ipv6 <address>",
      "first address for tenants; by default the first after the gateway",
    )
    .option("--provision-end-ipv6 <address>", "last address for tenants; by default the last of the block")
    .option(...OWNER_OPTION, each)
    .option(...DESCRIPTION_OPTION)
    .action(withIo(async (io, name, options) => {
      const tag = await findTag(io, options.nicTag);
      const owner_silos = await resolveOwners(io, options.ownerSilo ?? []);
      const subnet = await io.post<ExternalSubnet>(EXTERNAL_SUBNETS_PATH, {
        name,
        description: options.description,
        nic_tag: tag.name,
        vlan_id: options.vlanId,
        ipv4_block: options.ipv4Block,
        ipv6_block: options.ipv6Block,
        provision_start_ipv4: options.provisionStartIpv4,
        provision_end_ipv4: options.provisionEndIpv4,
        provision_start_ipv6: options.provisionStartIpv6,
        provision_end_ipv6: options.provisionEndIpv6,
        owner_silos,
      });
      io.print(subnet, `Created external subnet ${titleOf(subnet)}`);
    }));
}
