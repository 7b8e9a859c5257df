// Asks whether the firewall of a VPC passes a packet.
import { PORT_MAX } from "../../../src/contract/limits.ts";
import type { FirewallCheck } from "../../../src/contract/firewall.ts";
import { type AnyCommand, command, invalidValue, option, wholeNumber } from "../../framework.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../open-io.ts";
import { needVpc, VPC_OPTION } from "../record/scope.ts";
import { protocolOf } from "./flags.ts";

const PROTOCOLS = ["tcp", "udp", "icmp", "icmp4", "icmp6"] as const;

export function check(): AnyCommand {
  return command(
    "check",
    "Show whether a packet would pass, and which rule decides; exit code 1 if the packet is denied",
    "--vpc web --from 198.51.100.7 --to 10.0.1.5 --port 443",
  )
    .option(...VPC_OPTION)
    .requiredOption("--from <address>", "address of the sender")
    .requiredOption("--to <address>", "address of the receiver; for a floating IP, pass the address of its NIC")
    .addOption(option("--protocol <protocol>", "protocol; icmp means icmp4").choices(PROTOCOLS).default("tcp"))
    .option("--port <port>", "destination port, for tcp and udp", portOf)
    .option("--source-port <port>", "source port; by default a port that clients use", portOf)
    .action(withIo(async (io, { vpc, from, to, protocol, port, sourcePort }) => {
      const found = await io.get<FirewallCheck>(`/v1/vpcs/${await needVpc(io, vpc)}/firewall-check`, {
        source: from,
        destination: to,
        protocol: protocolOf(protocol),
        destination_port: port,
        source_port: sourcePort,
      });
      io.print(found, [endText("outbound", found.outbound), endText("inbound", found.inbound)].join("\n"));
      if (!found.is_allowed) throw new Failure("the firewall denies the packet", EXIT.failure);
    }));
}

function portOf(text: string): number {
  const port = wholeNumber(0)(text);
  if (port > PORT_MAX) throw invalidValue(`It must be 0 to ${PORT_MAX}.`);
  return port;
}

function endText(direction: "outbound" | "inbound", verdict: FirewallCheck["outbound"]): string {
  if (verdict === null) {
    return `${direction}: not checked: the ${direction === "outbound" ? "sender" : "receiver"} is outside the VPC`;
  }
  const decision = verdict.is_allowed ? "allowed" : "denied";
  if (verdict.rule === null) return `${direction}: ${decision}; no rule matches`;
  return `${direction}: ${decision} by the rule ${plainText(verdict.rule.name)}`;
}
