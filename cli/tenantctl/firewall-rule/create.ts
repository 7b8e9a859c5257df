import { FIREWALL_ACTIONS } from "../../../src/contract/enums.ts";
import { FIREWALL_PRIORITY_MAX } from "../../../src/contract/limits.ts";
import type { FirewallRule, FirewallRuleBody } from "../../../src/contract/network.ts";
import { type AnyCommand, command, option } from "../../framework.ts";
import { blockText } from "../../internal/table.ts";
import { LABEL_OPTION, parseLabels } from "../../internal/labels.ts";
import { withIo } from "../open-io.ts";
import { givenOrSoleVpc, VPC_OPTION } from "../record/scope.ts";
import { change, WAIT_OPTION } from "../record/wait.ts";
import { FIREWALL_RULE } from "./firewall-rule.ts";
import { portRange } from "./port-range.ts";
import { DIRECTION_NAMES, directionOf, priorityOf, PROTOCOL_NAMES, protocolOf } from "./flags.ts";

export function create(): AnyCommand {
  return command(
    "create",
    "Create a firewall rule that applies to every NIC of a VPC",
    "--vpc web --name ssh --action allow --direction inbound --priority 100 --protocol tcp --destination-ports 22",
  )
    .option(...VPC_OPTION)
    .requiredOption("--name <name>", "1 to 63 bytes; unique in the VPC")
    .option("--description <text>", "free-form description")
    .option(...LABEL_OPTION)
    .addOption(
      option("--action <action>", "action on matching packets").choices(FIREWALL_ACTIONS).makeOptionMandatory(),
    )
    .addOption(
      option("--direction <direction>", "direction of packets, as the NIC sees it").choices(DIRECTION_NAMES)
        .makeOptionMandatory(),
    )
    .requiredOption(
      "--priority <number>",
      `0 to ${FIREWALL_PRIORITY_MAX}; higher numbers are evaluated first`,
      priorityOf,
    )
    .addOption(option("--protocol <protocol>", "protocol, by default any; icmp means icmp4").choices(PROTOCOL_NAMES))
    .option("--source-cidr <cidr>", "match only packets from this network")
    .option("--destination-cidr <cidr>", "match only packets to this network")
    .option("--source-ports <ports>", "LOW-HIGH or one port; only with tcp or udp", portRange)
    .option("--destination-ports <ports>", "LOW-HIGH or one port; only with tcp or udp", portRange)
    .option(...WAIT_OPTION)
    .action(withIo(async (io, options) => {
      const { vpc, name, description, action, direction, priority, protocol = "any" } = options;
      const body: Omit<FirewallRuleBody, "description" | "labels"> & Partial<FirewallRuleBody> = {
        name,
        description,
        labels: options.label && parseLabels(options.label),
        priority,
        direction: directionOf(direction),
        action,
        protocol: protocolOf(protocol),
        source_cidr: options.sourceCidr,
        destination_cidr: options.destinationCidr,
        source_ports: options.sourcePorts,
        destination_ports: options.destinationPorts,
      };
      const query = { vpc: await givenOrSoleVpc(io, vpc) };
      const print = (rule: FirewallRule) => io.print(rule, blockText(FIREWALL_RULE.lines(rule)));
      await change(io, { method: "POST", path: FIREWALL_RULE.path, query, body }, { wait: options.wait, print });
    }));
}
