// Shows and replaces all firewall rules of a VPC as one set. `set show` prints the version of the rules. If the file
// contains a version, `set replace` sends it. The server then rejects the replacement if a rule has changed since this
// version.
import type { FirewallRuleSet } from "../../../src/contract/firewall.ts";
import type { FirewallRule } from "../../../src/contract/network.ts";
import { type AnyCommand, command, group } from "../../framework.ts";
import { readDocument } from "../../internal/document.ts";
import { tableText } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { needVpc, VPC_OPTION } from "../record/scope.ts";
import { FIREWALL_RULE } from "./firewall-rule.ts";

export function set(): AnyCommand {
  return group("set", "All firewall rules of a VPC", [show(), replace()]);
}

function show(): AnyCommand {
  return command("show", "Show the rules in the order of evaluation, and their version", "--vpc web -o json")
    .option(...VPC_OPTION)
    .addHelpText("after", "\n`set replace` accepts a file with the output of `set show -o json`.")
    .action(withIo(async (io, { vpc }) => {
      const path = `/v1/vpcs/${await needVpc(io, vpc)}/firewall-rules`;
      const { body, etag } = await io.exchange({ method: "GET", path });
      const { items } = body as FirewallRuleSet;
      const version = etag?.replaceAll('"', "") ?? null;
      io.print({ version, items: items.map(bodyOf) }, `version: ${version}\n${rulesText(items)}`);
    }));
}

function replace(): AnyCommand {
  return command("replace", "Replace all firewall rules of a VPC in one commit", "--vpc web --file rules.json")
    .option(...VPC_OPTION)
    .requiredOption(
      "-f, --file <file>",
      "rules as JSON, or as TOML in a file *.toml; - for JSON on standard input",
    )
    .addHelpText(
      "after",
      "\nThe file is what `set show -o json` prints. If it has the field `version`, the command fails unless the rules\n" +
        "still have this version. A rule whose name is in the file keeps its id; the other rules are deleted.",
    )
    .action(withIo(async (io, { vpc, file }) => {
      const { version, ...body } = await readDocument(io, file) as { readonly version?: unknown };
      const path = `/v1/vpcs/${await needVpc(io, vpc)}/firewall-rules`;
      const headers: Record<string, string> = typeof version === "string" ? { "if-match": `"${version}"` } : {};
      const { items } = await io.send<FirewallRuleSet>({ method: "PUT", path, body, headers });
      io.print({ items }, rulesText(items));
    }));
}

function rulesText(items: readonly FirewallRule[]): string {
  return items.length === 0 ? "(no firewall rules)" : tableText(FIREWALL_RULE.columns, items);
}

/** Returns the fields of a rule that a user chooses, without its labels. The server keeps labels that a rule omits. */
function bodyOf(rule: FirewallRule) {
  const { name, description, priority, direction, action, protocol } = rule;
  const { source_cidr, destination_cidr, source_ports, destination_ports, icmp_type_code } = rule;
  const required = { name, description, priority, direction, action, protocol };
  return { ...required, source_cidr, destination_cidr, source_ports, destination_ports, icmp_type_code };
}
