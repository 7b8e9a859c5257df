import type { Vpc, VpcBody } from "../../../src/contract/network.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { blockText } from "../../internal/table.ts";
import { noteHostBits } from "../block-note.ts";
import { withIo } from "../open-io.ts";
import { needProject, projectScope } from "../scope.ts";
import { VPC } from "./vpc.ts";

export function create(): AnyCommand {
  return command("create", "Create a VPC and its main route table", "--name web --ipv4-block 10.0.0.0/16")
    .requiredOption("--name <name>", "1 to 63 bytes; unique in the project")
    .option("--description <text>", "free-form description")
    .option("--ipv4-block <cidr>", "IPv4 block of the VPC; at least one block is required")
    .option("--ipv6-block <cidr>", "IPv6 block of the VPC")
    .action(withIo(async (io, { name, description, ipv4Block, ipv6Block }) => {
      await needProject(io, "create a vpc");
      const body: Partial<VpcBody> = { name, description, ipv4_block: ipv4Block, ipv6_block: ipv6Block };
      const query = await projectScope(io);
      const vpc = await io.send<Vpc>({ method: "POST", path: VPC.path, query, body });
      io.print(vpc, blockText(VPC.lines(vpc)));
      noteHostBits(io, "VPC", [ipv4Block, ipv6Block]);
    }));
}
