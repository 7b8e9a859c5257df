import type { AnyCommand } from "../../framework.ts";
import { show } from "../record/show.ts";
import { list } from "./list.ts";
import { NIC } from "./nic.ts";

export function nicVerbs(): AnyCommand[] {
  return [list(), show(NIC)];
}
