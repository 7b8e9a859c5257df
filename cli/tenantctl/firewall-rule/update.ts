// Changes the given fields of a firewall rule. The word `any` removes a condition.
import { FIREWALL_ACTIONS } from "../../../src/contract/enums.ts";
import type { FirewallRule, FirewallRulePatch } from "../../../src/contract/network.ts";
import { type AnyCommand, command, option } from "../../framework.ts";
import { usageFailure } from "../../internal/failure.ts";
import { LABEL_OPTION, labelsPatch, REMOVE_LABEL_OPTION } from "../../internal/labels.ts";
import { DESCRIPTION_OPTION, NAME_OPTION } from "../../internal/named-patch.ts";
import { blockText } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { linesOf } from "../record/kind.ts";
import { resolveRecord, VPC_FLAGS } from "../record/scope.ts";
import { change, WAIT_OPTION } from "../record/wait.ts";
import { FIREWALL_RULE } from "./firewall-rule.ts";
import { DIRECTION_NAMES, directionOf, priorityOf, PROTOCOL_NAMES, protocolOf } from "./flags.ts";
import { portRange } from "./port-range.ts";

const ANY = "any";

export function update(): AnyCommand {
  return command("update", "Change a firewall rule", "ssh --vpc web --source-cidr 192.0.2.0/24")
    .argument("<firewall-rule>", "UUID, unique UUID prefix or name")
    .option(VPC_FLAGS, "VPC in which a name is looked up; by default the only VPC of the project")
    .option(...NAME_OPTION)
    .option(...DESCRIPTION_OPTION)
    .option(...LABEL_OPTION)
    .option(...REMOVE_LABEL_OPTION)
    .addOption(option("--action <action>", "action on matching packets").choices(FIREWALL_ACTIONS))
    .addOption(
      option("--direction <direction>", "direction of packets, as the NIC sees it").choices(DIRECTION_NAMES),
    )
    .option("--priority <number>", "higher numbers are evaluated first", priorityOf)
    .addOption(option("--protocol <protocol>", "protocol; icmp means icmp4").choices(PROTOCOL_NAMES))
    .option("--source-cidr <cidr>", "match only packets from this network; any for all")
    .option("--destination-cidr <cidr>", "match only packets to this network; any for all")
    .option("--source-ports <ports>", "LOW-HIGH or one port; any for all", portsOrAny)
    .option("--destination-ports <ports>", "LOW-HIGH or one port; any for all", portsOrAny)
    .option(...WAIT_OPTION)
    .action(withIo(async (io, name, { vpc, ...options }) => {
      const body: FirewallRulePatch = {
        name: options.name,
        description: options.description,
        labels: labelsPatch(options),
        action: options.action,
        direction: options.direction && directionOf(options.direction),
        priority: options.priority,
        protocol: options.protocol && protocolOf(options.protocol),
        source_cidr: orAny(options.sourceCidr),
        destination_cidr: orAny(options.destinationCidr),
        source_ports: orAny(options.sourcePorts),
        destination_ports: orAny(options.destinationPorts),
      };
      if (Object.values(body).every((value) => value === undefined)) {
        throw usageFailure("there is nothing to change; pass at least one option");
      }
      const id = await resolveRecord(io, FIREWALL_RULE, { name, vpc });
      const print = (rule: FirewallRule) => io.print(rule, blockText(linesOf(FIREWALL_RULE, rule)));
      await change(io, { method: "PATCH", path: `${FIREWALL_RULE.path}/${id}`, body }, { wait: options.wait, print });
    }));
}

function portsOrAny(text: string) {
  return text === ANY ? ANY : portRange(text);
}

function orAny<T>(value: T | typeof ANY | undefined): T | null | undefined {
  return value === ANY ? null : value as T | undefined;
}
