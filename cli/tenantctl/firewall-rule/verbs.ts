import type { AnyCommand } from "../../framework.ts";
import { remove } from "../record/delete.ts";
import { list } from "../record/list.ts";
import { show } from "../record/show.ts";
import { check } from "./check.ts";
import { create } from "./create.ts";
import { edit } from "./edit.ts";
import { FIREWALL_RULE } from "./firewall-rule.ts";
import { set } from "./set.ts";
import { update } from "./update.ts";

export function firewallRuleVerbs(): AnyCommand[] {
  return [list(FIREWALL_RULE), show(FIREWALL_RULE), create(), edit(), update(), remove(FIREWALL_RULE), set(), check()];
}
