// Sets the address and the MTU of a node on the underlay, the network that carries the packets of VPCs between nodes.
import { MTU_MAX, UNDERLAY_MTU_MIN } from "../../../../src/contract/limits.ts";
import type { CnView } from "../../../../src/contract/cn.ts";
import { type AnyCommand, command, invalidValue, wholeNumber } from "../../../framework.ts";
import { usageFailure } from "../../../internal/failure.ts";
import { blockText } from "../../../internal/table.ts";
import { withIo } from "../../../internal/run.ts";
import { resolveNode } from "../../node-name.ts";

/** The word that removes the value that an operator set. */
const REPORTED = "reported";

export function set(): AnyCommand {
  return command("set", "Set the underlay address or MTU of a node", "cn-17 --mtu 9000")
    .argument("<node>", "UUID, unique UUID prefix or hostname")
    .option(
      "--address <address>",
      `IPv4 address that all other nodes can reach, or "${REPORTED}" for the address that the node reports`,
    )
    .option(
      "--mtu <bytes>",
      `${UNDERLAY_MTU_MIN} to ${MTU_MAX}, or "${REPORTED}" for the MTU that the node reports`,
      mtuOf,
    )
    .action(withIo(async (io, name, { address, mtu }) => {
      if (address === undefined && mtu === undefined) {
        throw usageFailure("there is nothing to set; pass --address, --mtu or both");
      }
      const body = {
        ...(address !== undefined && { underlay_address: address === REPORTED ? null : address }),
        ...(mtu !== undefined && { underlay_mtu: mtu === REPORTED ? null : mtu }),
      };
      const path = `/v1/cns/${await resolveNode(io, name)}/underlay`;
      const node = await io.send<CnView>({ method: "PATCH", path, body });
      io.print(node, underlayText(node));
    }));
}

export function underlayText({ server_uuid, hostname, underlay_address, underlay_mtu }: CnView): string {
  return blockText([
    ["node", `${hostname} (${server_uuid})`],
    ["underlay_address", underlay_address],
    ["underlay_mtu", underlay_mtu],
  ]);
}

function mtuOf(text: string): number | typeof REPORTED {
  if (text === REPORTED) return REPORTED;
  const mtu = wholeNumber(UNDERLAY_MTU_MIN)(text);
  if (mtu > MTU_MAX) throw invalidValue(`It must be ${UNDERLAY_MTU_MIN} to ${MTU_MAX}, or ${REPORTED}.`);
  return mtu;
}
