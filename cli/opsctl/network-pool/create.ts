import type { ExternalSubnet, NetworkPool } from "../../../src/contract/external-network.ts";
import { type AnyCommand, command, each } from "../../framework.ts";
import type { Io } from "../../internal/io.ts";
import { withIo } from "../../internal/run.ts";
import { EXTERNAL_SUBNETS_PATH, SUBNET_NAME } from "../external-subnet/subnet.ts";
import { DESCRIPTION_OPTION } from "../../internal/named-patch.ts";
import { isUuid, pickRecord, titleOf } from "../../internal/record-name.ts";
import { OWNER_OPTION, resolveOwners } from "../silo/silo.ts";
import { POOLS_PATH } from "./pool.ts";

export function create(): AnyCommand {
  return command(
    "create",
    "Create a pool of external subnets; a subnet is used when the previous subnet is full",
    "public --network public-1 --network public-2",
  )
    .argument("<name>", "1 to 63 bytes, without / or \\")
    .requiredOption(
      "--network <external-subnet>",
      "external subnet, by name or UUID; repeat for each, in order of use",
      each,
    )
    .option(...OWNER_OPTION, each)
    .option(...DESCRIPTION_OPTION)
    .action(withIo(async (io, name, { network, ownerSilo, description }) => {
      const networks = await resolveNetworks(io, network);
      const owner_silos = await resolveOwners(io, ownerSilo ?? []);
      const pool = await io.post<NetworkPool>(POOLS_PATH, { name, description, networks, owner_silos });
      io.print(pool, `Created network pool ${titleOf(pool)}`);
    }));
}

async function resolveNetworks(io: Io, names: readonly string[]): Promise<string[]> {
  const subnets = names.every(isUuid) ? [] : await io.all<ExternalSubnet>(EXTERNAL_SUBNETS_PATH);
  return names.map((name) => isUuid(name) ? name.toLowerCase() : pickRecord(subnets, name, SUBNET_NAME).id);
}
