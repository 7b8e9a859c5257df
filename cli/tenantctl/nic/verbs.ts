import type { AnyCommand } from "../../framework.ts";
import { show } from "../record/show.ts";
import { create } from "./create.ts";
import { remove } from "./delete.ts";
import { list } from "./list.ts";
import { NIC } from "./nic.ts";
import { update } from "./update.ts";

export function nicVerbs(): AnyCommand[] {
  return [list(), show(NIC), create(), update(), remove()];
}
