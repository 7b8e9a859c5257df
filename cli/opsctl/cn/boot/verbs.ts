import { type AnyCommand, group } from "../../../framework.ts";
import { bootArguments } from "./arguments.ts";
import { assign } from "./assign.ts";
import { authorize } from "./authorize.ts";
import { converge } from "./converge.ts";
import { declared } from "./declared.ts";
import { decommission } from "./decommission.ts";
import { list } from "./list.ts";
import { apply as applyPolicy } from "./policy/apply.ts";
import { labelArguments } from "./policy/arguments.ts";
import { set as setPolicy } from "./policy/set.ts";
import { show as showPolicy } from "./policy/show.ts";
import { reactivate } from "./reactivate.ts";
import { rescue } from "./rescue.ts";
import { apply as applyRoster } from "./roster/apply.ts";
import { show as showRoster } from "./roster/show.ts";
import { show } from "./show.ts";

export function bootVerbs(): AnyCommand[] {
  return [
    list(),
    show(),
    assign(),
    bootArguments(),
    authorize(),
    reactivate(),
    rescue(),
    decommission(),
    declared(),
    converge(),
    group("policy", "Boot policy: which machines may enrol, and how", [
      showPolicy(),
      setPolicy(),
      labelArguments(),
      applyPolicy(),
    ]),
    group("roster", "Roster: networking declared before machines boot", [showRoster(), applyRoster()]),
  ];
}
