// Shows where a packet of an instance stops. Each node on the way decides whether it passes the packet on.
import type { NetworkTrace, TraceHop } from "../../../src/contract/network-trace.ts";
import { PACKET_PROTOCOLS } from "../../../src/contract/enums.ts";
import { type AnyCommand, command, option, wholeNumber } from "../../framework.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { findInstance, INSTANCE_ARGUMENT, SYSTEM_INSTANCES_PATH } from "../instance/instance.ts";

export function trace(): AnyCommand {
  return command(
    "trace",
    "Show where a packet of an instance stops; exit code 1 unless it arrives or leaves the site",
    "web1 10.0.1.6 443",
  )
    .argument(...INSTANCE_ARGUMENT)
    .argument("<address>", "address of the receiver, or a floating IP")
    .argument("[port]", "destination port, for tcp and udp", wholeNumber(0))
    .addOption(option("--protocol <protocol>", "protocol").choices(PACKET_PROTOCOLS).default("tcp"))
    .action(withIo(async (io, name, address, port, { protocol }) => {
      const { id } = await findInstance(io, name);
      const query = { destination: address, protocol, port };
      const found = await io.get<NetworkTrace>(`${SYSTEM_INSTANCES_PATH}/${id}/network-trace`, query);
      io.print(found, [...found.hops.flatMap(hopLines), plainText(found.summary)].join("\n"));
      if (found.verdict === "stops" || found.verdict === "unknown") {
        throw new Failure(found.verdict === "stops" ? "the packet stops" : "a node did not answer", EXIT.failure);
      }
    }));
}

function hopLines({ hostname, steps, generation, desired_generation, differences }: TraceHop): string[] {
  const node = plainText(hostname);
  const notes = [
    ...(generation !== null && generation < desired_generation
      ? [`it has applied generation ${generation} of ${desired_generation}`]
      : []),
    ...(differences !== null && differences > 0
      ? [`its router differs from its network document in ${differences === 1 ? "1 place" : `${differences} places`}`]
      : []),
  ];
  return [`node ${node}${notes.map((note) => `; ${note}`).join("")}`, ...steps.map((step) => `  ${plainText(step)}`)];
}
