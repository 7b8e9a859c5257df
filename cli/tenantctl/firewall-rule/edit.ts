// Implements `firewall-rule edit`: opens the rules of a VPC as a manifest in the user's editor. One request replaces
// all rules.
import type { FirewallRuleSet } from "../../../src/contract/firewall.ts";
import type { Vpc } from "../../../src/contract/network.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { edited } from "../../internal/editor.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import { type Entry, entryOf } from "../../internal/manifest/kind.ts";
import { planOf } from "../../internal/manifest/plan.ts";
import { appliedText, planData, stepLines } from "../../internal/manifest/plan-text.ts";
import { parseManifest } from "../../internal/manifest/read.ts";
import { exported } from "../../internal/manifest/verbs.ts";
import { yamlText } from "../../internal/output/yaml-text.ts";
import { kindOf } from "../manifest/kind.ts";
import { firewallRecord } from "../manifest/project.ts";
import { SCHEMA } from "../manifest/references.ts";
import { withIo } from "../open-io.ts";
import { needVpc, VPC_OPTION } from "../record/scope.ts";

const KIND = kindOf("firewall_rules");
const HEAD = "# The rules of this VPC. Save and close the editor to apply them; a rule that you remove is deleted.\n" +
  "# A condition that a rule omits, such as source_cidr, excludes no packet.\n";
/** The values that the server sets for fields that a rule omits. The server keeps labels that a rule omits. */
const DEFAULTS = {
  description: null,
  protocol: "any",
  source_cidr: null,
  destination_cidr: null,
  source_ports: null,
  destination_ports: null,
  icmp_type_code: null,
};

export function edit(): AnyCommand {
  return command("edit", "Change the firewall rules of a VPC in $VISUAL or $EDITOR", "--vpc web")
    .option(...VPC_OPTION)
    .action(withIo(async (io, { vpc: named }) => {
      const vpc = await io.get<Vpc>(`/v1/vpcs/${await needVpc(io, named)}`);
      const path = `/v1/vpcs/${vpc.id}/firewall-rules`;
      const { body, etag } = await io.exchange({ method: "GET", path });
      const before = (body as FirewallRuleSet).items.map((rule) => firewallRecord(rule, vpc.name));
      const text = await edited(
        io.environment,
        HEAD + yamlText({ [KIND.list]: [], ...exported([KIND], before) }),
        "firewall-rules.yaml",
      );
      const manifest = await parseManifest([["the edited rules", text]], [KIND]);
      const entries = manifest.entries.map(completed);
      const foreign = entries.find(({ values }) => values.vpc !== vpc.name);
      if (foreign !== undefined) {
        throw new Failure(`rule ${foreign.key} is not in the VPC ${vpc.name}; nothing was changed`, EXIT.failure);
      }
      const plan = planOf(SCHEMA, { entries, lists: new Set([KIND.list]) }, before, {
        prune: true,
        isKnown: ({ list }) => list === "vpcs",
      });
      if (plan.problems.length > 0) throw new Failure(plan.problems.join("\n"), EXIT.failure);
      if (plan.steps.length > 0) {
        const items = entries.map(({ values: { vpc: _, ...rule } }) => rule);
        // The server refuses the set if a rule has changed since it was read.
        const headers: Record<string, string> = etag === null ? {} : { "if-match": etag };
        await io.send<FirewallRuleSet>({ method: "PUT", path, body: { items }, headers });
      }
      if (!io.json) { for (const line of plan.steps.flatMap(stepLines)) io.say(line); }
      io.print(planData(plan), appliedText(plan));
    }));
}

/** Returns the rule as it is after the request, so that the plan names every change that the request makes. */
function completed({ kind, values }: Entry): Entry {
  return entryOf(kind, { ...DEFAULTS, ...values, protocol: values.protocol ?? DEFAULTS.protocol });
}
