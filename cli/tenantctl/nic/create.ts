import type { Nic, NicBody } from "../../../src/contract/instance.ts";
import { type AnyCommand, command, each } from "../../framework.ts";
import { blockText } from "../../internal/table.ts";
import { LABEL_OPTION, parseLabels } from "../../internal/labels.ts";
import { withIo } from "../open-io.ts";
import { INSTANCE_OPTION, resolveInstance, resolveRecord, VPC_FLAGS } from "../record/scope.ts";
import { SUBNET } from "../subnet/subnet.ts";
import { NIC } from "./nic.ts";

export function create(): AnyCommand {
  return command(
    "create",
    "Add a NIC to a stopped instance; the guest gets the NIC at the next start",
    "--name backend --instance web1 --subnet db --vpc main",
  )
    .requiredOption("--name <name>", "1 to 63 bytes; unique among the NICs of the instance")
    .requiredOption(...INSTANCE_OPTION)
    .option(...LABEL_OPTION)
    .requiredOption("--subnet <subnet>", "subnet: UUID, unique UUID prefix or name")
    .option(VPC_FLAGS, "VPC in which the subnet is looked up by name; by default the only VPC of the project")
    .option("--ipv4 <address>", "an address of the subnet; default: the lowest free address")
    .option("--ipv6 <address>", "an address of the subnet; default: the lowest free address")
    .option("--mac <mac>", "MAC address; default: a random one")
    .option("--additional-ip <address>", "further address of the subnet; may be repeated", each)
    .option("--allow-cidr <block>", "block from which the guest may also send; may be repeated", each)
    .action(withIo(async (io, { name, instance, subnet, vpc, ipv4, ipv6, mac, additionalIp, allowCidr, label }) => {
      const query = { instance: await resolveInstance(io, instance) };
      const body: Omit<NicBody, "labels" | "additional_ips" | "allowed_cidrs"> & Partial<NicBody> = {
        name,
        labels: label && parseLabels(label),
        subnet_id: await resolveRecord(io, SUBNET, { name: subnet, vpc }),
        primary_ipv4: ipv4,
        primary_ipv6: ipv6,
        mac,
        additional_ips: additionalIp && [...additionalIp],
        allowed_cidrs: allowCidr && [...allowCidr],
      };
      const nic = await io.send<Nic>({ method: "POST", path: NIC.path, query, body });
      io.print(nic, blockText(NIC.lines(nic)));
    }));
}
