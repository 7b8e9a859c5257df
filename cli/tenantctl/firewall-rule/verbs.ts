import type { AnyCommand } from "../../framework.ts";
import { remove } from "../record/delete.ts";
import { list } from "../record/list.ts";
import { show } from "../record/show.ts";
import { update } from "../record/update.ts";
import { create } from "./create.ts";
import { FIREWALL_RULE } from "./firewall-rule.ts";

export function firewallRuleVerbs(): AnyCommand[] {
  return [list(FIREWALL_RULE), show(FIREWALL_RULE), create(), update(FIREWALL_RULE), remove(FIREWALL_RULE)];
}
