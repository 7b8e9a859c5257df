import type { NicTag } from "../../../src/contract/external-network.ts";
import { type AnyCommand, command, wholeNumber } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { DESCRIPTION_OPTION } from "../../internal/named-patch.ts";
import { titleOf } from "../../internal/record-name.ts";
import { TAGS_PATH } from "./tag.ts";

export function create(): AnyCommand {
  return command("create", "Create a NIC tag, a network that nodes are wired to", "external --mtu 1500")
    .argument("<name>", "name as the nodes report it")
    .requiredOption("--mtu <bytes>", "MTU of the network, 1280 to 9216", wholeNumber(0))
    .option(...DESCRIPTION_OPTION)
    .action(withIo(async (io, name, { mtu, description }) => {
      const tag = await io.post<NicTag>(TAGS_PATH, { name, mtu, description });
      io.print(tag, `Created NIC tag ${titleOf(tag)}`);
    }));
}
