import type { NatGateway, NatGatewayBody } from "../../../src/contract/network.ts";
import { type AnyCommand, command, option } from "../../framework.ts";
import { plainText } from "../../internal/plain-text.ts";
import { blockText } from "../../internal/table.ts";
import { networkOptions, sourceOf } from "../address-source.ts";
import { FAMILY_NAMES, parseFamily } from "../family.ts";
import { withIo } from "../open-io.ts";
import { givenOrSoleVpc, VPC_OPTION } from "../record/scope.ts";
import { change, WAIT_OPTION } from "../record/wait.ts";
import { NAT_GATEWAY } from "./nat-gateway.ts";

export function create(): AnyCommand {
  const [network, pool] = networkOptions();
  return command("create", "Create a NAT gateway with its own public address", "--vpc web --name out")
    .option(...VPC_OPTION)
    .requiredOption("--name <name>", "1 to 63 bytes; unique in the VPC")
    .option("--description <text>", "free-form description")
    .addOption(
      option("--family <family>", "family of its public address; without --network and --pool, by default ipv4")
        .choices(FAMILY_NAMES)
        .argParser(parseFamily),
    )
    .addOption(network)
    .addOption(pool)
    .option(...WAIT_OPTION)
    .action(withIo(async (io, { vpc, name, description, wait, ...source }) => {
      const body: Partial<NatGatewayBody> = { name, description, ...sourceOf(source) };
      const query = { vpc: await givenOrSoleVpc(io, vpc) };
      const print = (gateway: NatGateway) => {
        const lines = blockText([
          ["name", gateway.name],
          ["vpc", gateway.vpc],
          ["public_address", gateway.public_address],
          ...(gateway.network_id == null ? [] : [["network", gateway.network_id] as const]),
        ]);
        io.print(gateway, `Created NAT gateway ${plainText(gateway.id)}\n${lines}`);
      };
      await change(io, { method: "POST", path: NAT_GATEWAY.path, query, body }, { wait, print, missing: missingNode });
    }));
}

function missingNode({ host_cn_uuid }: NatGateway): string | null {
  return host_cn_uuid === null ? NO_NODE : null;
}

const NO_NODE = "the NAT gateway has no node yet; if this lasts, ask an operator to run `opsctl network trace`, " +
  "which shows the reason";
