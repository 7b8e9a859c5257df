import { FIREWALL_ACTIONS } from "../../../src/contract/enums.ts";
import { FIREWALL_PRIORITY_MAX } from "../../../src/contract/limits.ts";
import type { FirewallRule, FirewallRuleBody } from "../../../src/contract/network.ts";
import { type AnyCommand, command, option } from "../../framework.ts";
import { blockText } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { resolveVpc, VPC_OPTION } from "../record/scope.ts";
import { FIREWALL_RULE } from "./firewall-rule.ts";
import { portRange } from "./port-range.ts";
import { DIRECTION_WORDS, directionOf, priorityOf, PROTOCOL_WORDS, protocolOf } from "./flags.ts";

export function create(): AnyCommand {
  return command("create", "Make a rule for every NIC of a VPC")
    .option(...VPC_OPTION)
    .requiredOption("--name <name>", "1 to 63 bytes; no other rule of the VPC has it")
    .option("--description <text>", "what it is for")
    .addOption(
      option("--action <action>", "what happens to the packets").choices(FIREWALL_ACTIONS).makeOptionMandatory(),
    )
    .addOption(
      option("--direction <direction>", "seen from the NIC").choices(DIRECTION_WORDS).makeOptionMandatory(),
    )
    .requiredOption(
      "--priority <number>",
      `0 to ${FIREWALL_PRIORITY_MAX}; higher numbers are evaluated first`,
      priorityOf,
    )
    .addOption(option("--protocol <protocol>", "any when left out; icmp is icmp4").choices(PROTOCOL_WORDS))
    .option("--source-cidr <cidr>", "only packets from there")
    .option("--destination-cidr <cidr>", "only packets to there")
    .option("--source-ports <ports>", "LOW-HIGH or one port; with tcp or udp only", portRange)
    .option("--destination-ports <ports>", "LOW-HIGH or one port; with tcp or udp only", portRange)
    .action(withIo(async (io, options) => {
      const { vpc, name, description, action, direction, priority, protocol = "any" } = options;
      const body: Omit<FirewallRuleBody, "description"> & { description?: string } = {
        name,
        description,
        priority,
        direction: directionOf(direction),
        action,
        protocol: protocolOf(protocol),
        source_cidr: options.sourceCidr,
        destination_cidr: options.destinationCidr,
        source_ports: options.sourcePorts,
        destination_ports: options.destinationPorts,
      };
      const query = { vpc: vpc === undefined ? undefined : await resolveVpc(io, vpc) };
      const rule = await io.send<FirewallRule>({ method: "POST", path: FIREWALL_RULE.path, query, body });
      io.print(rule, blockText(FIREWALL_RULE.lines(rule)));
    }));
}
