import { type AnyCommand, group } from "../../framework.ts";
import { approve } from "./approve.ts";
import { close } from "./auto-approve/close.ts";
import { open } from "./auto-approve/open.ts";
import { status } from "./auto-approve/status.ts";
import { disable } from "./disable.ts";
import { set as setLabel } from "./label/set.ts";
import { list } from "./list.ts";
import { clear as clearReservoir } from "./reservoir/clear.ts";
import { set as setReservoir } from "./reservoir/set.ts";
import { show } from "./show.ts";

export function cnVerbs(): AnyCommand[] {
  return [
    list(),
    show(),
    approve(),
    disable(),
    group("label", "What a node may be used for", [setLabel()]),
    group("reservoir", "Memory kept for virtual machines, per node", [setReservoir(), clearReservoir()]),
    group("auto-approve", "The window in which new nodes need no claim code", [status(), open(), close()]),
  ];
}
