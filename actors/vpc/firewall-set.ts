// Replaces all firewall rules of a VPC in one commit. The rules stay actors of their own: each changed rule is written,
// audited and checked by its actor, and one refusal refuses the whole set.
import { fault, FIREWALL_RULES_CHANGED } from "../../src/contract/fault.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { audit, go, guard, lock, refuse, withActor, withNewActor } from "../engine/effects.ts";
import type { Out } from "../engine/types.ts";
import type { FirewallRuleMessage } from "../firewall-rule/transition.ts";
import type { VpcState } from "./state.ts";

type RuleMessage<T extends FirewallRuleMessage["type"]> = FirewallRuleMessage & { readonly type: T };

/** `expected` is the tag in If-Match; null accepts any tag. `current` is the tag of the rules that the route read. */
export type ReplaceFirewall = {
  readonly type: "replace_firewall";
  readonly expected: string | null;
  readonly current: string;
  readonly create: readonly RuleMessage<"create">[];
  readonly update: readonly (RuleMessage<"update"> & { readonly id: string })[];
  /** The ids of the rules to delete. */
  readonly delete: readonly string[];
};

/** 412: the rules changed since the caller read them. */
const CHANGED = fault("precondition_failed", "the firewall rules were changed since you read them; read them again");

export function replaceFirewall(s: VpcState, m: ReplaceFirewall): Out<VpcState> {
  if (m.expected !== null && m.expected !== m.current) return refuse(CHANGED);
  const counts = { created: m.create.length, updated: m.update.length, deleted: m.delete.length };
  const { tenant_id, project_id, name } = s;
  return go(
    s,
    // A create of a rule holds the lock shared, so no rule is added between the guard and the commit.
    lock(lockKey("vpc", s.id)),
    guard(
      "firewall_rules_are",
      { vpc_id: s.id, tag: m.current },
      m.expected === null ? FIREWALL_RULES_CHANGED : CHANGED,
    ),
    ...m.delete.map((id) => withActor({ kind: "firewall-rule", id }, { type: "delete" })),
    ...m.update.map(({ id, ...message }) => withActor({ kind: "firewall-rule", id }, message)),
    ...m.create.map((message) => withNewActor({ kind: "firewall-rule", id: message.id }, message)),
    audit("firewall_rules_replace", `Vpc::"${s.id}"`, { tenant_id, project_id, name, ...counts }),
  );
}
