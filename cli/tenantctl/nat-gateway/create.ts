import type { NatGateway, NatGatewayBody } from "../../../src/contract/network.ts";
import { type AnyCommand, command, option } from "../../framework.ts";
import { plainText } from "../../internal/plain-text.ts";
import { blockText } from "../../internal/table.ts";
import { FAMILY_WORDS, familyOf, familyWord } from "../family.ts";
import { withIo } from "../open-io.ts";
import { resolveVpc, VPC_OPTION } from "../record/scope.ts";
import { NAT_GATEWAY } from "./nat-gateway.ts";

export function create(): AnyCommand {
  return command("create", "Make a NAT gateway with a public address of its own")
    .requiredOption(...VPC_OPTION)
    .requiredOption("--name <name>", "1 to 63 bytes; no other NAT gateway of the VPC has it")
    .option("--description <text>", "what it is for")
    .addOption(
      option("--family <family>", "family of its public address; ipv4 when left out").choices(FAMILY_WORDS)
        .argParser(familyWord),
    )
    .action(withIo(async (io, { vpc, name, description, family = "ipv4" }) => {
      const body: Partial<NatGatewayBody> = { name, description, family: familyOf(family) };
      const query = { vpc: await resolveVpc(io, vpc) };
      const gateway = await io.send<NatGateway>({ method: "POST", path: NAT_GATEWAY.path, query, body });
      const lines = blockText([
        ["name", gateway.name],
        ["vpc", gateway.vpc],
        ["public_address", gateway.public_address],
      ]);
      io.print(gateway, `Created NAT gateway ${plainText(gateway.id)}\n${lines}`);
    }));
}
