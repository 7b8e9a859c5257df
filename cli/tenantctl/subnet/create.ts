import type { Subnet, SubnetBody } from "../../../src/contract/network.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { blockText } from "../../internal/table.ts";
import { noteHostBits } from "../block-note.ts";
import { withIo } from "../open-io.ts";
import { givenOrSoleVpc, VPC_OPTION } from "../record/scope.ts";
import { change, WAIT_OPTION } from "../record/wait.ts";
import { SUBNET } from "./subnet.ts";

export function create(): AnyCommand {
  return command("create", "Create a subnet in a VPC", "--vpc web --name front --ipv4-block 10.0.1.0/24")
    .option(...VPC_OPTION)
    .requiredOption("--name <name>", "1 to 63 bytes; unique in the VPC")
    .option("--description <text>", "free-form description")
    .option("--ipv4-block <cidr>", "part of the VPC's IPv4 block; at least one block is required")
    .option("--ipv6-block <cidr>", "part of the VPC's IPv6 block")
    .option(...WAIT_OPTION)
    .action(withIo(async (io, { vpc, name, description, ipv4Block, ipv6Block, wait }) => {
      const body: Partial<SubnetBody> = { name, description, ipv4_block: ipv4Block, ipv6_block: ipv6Block };
      const query = { vpc: await givenOrSoleVpc(io, vpc) };
      const print = (subnet: Subnet) => io.print(subnet, blockText(SUBNET.lines(subnet)));
      await change(io, { method: "POST", path: SUBNET.path, query, body }, { wait, print });
      noteHostBits(io, "subnet", [ipv4Block, ipv6Block]);
    }));
}
