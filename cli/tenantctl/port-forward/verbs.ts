import type { AnyCommand } from "../../framework.ts";
import { remove } from "../record/delete.ts";
import { list } from "../record/list.ts";
import { show } from "../record/show.ts";
import { update } from "../record/update.ts";
import { create } from "./create.ts";
import { PORT_FORWARD } from "./port-forward.ts";

export function portForwardVerbs(): AnyCommand[] {
  return [list(PORT_FORWARD), show(PORT_FORWARD), create(), update(PORT_FORWARD), remove(PORT_FORWARD)];
}
