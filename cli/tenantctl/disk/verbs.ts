import type { AnyCommand } from "../../framework.ts";
import { list } from "./list.ts";
import { show } from "../record/show.ts";
import { update } from "../record/update.ts";
import { attachVerbs } from "./attach.ts";
import { create } from "./create.ts";
import { remove } from "./delete.ts";
import { DISK } from "./disk.ts";
import { resize } from "./resize.ts";

export function diskVerbs(): AnyCommand[] {
  return [list(), show(DISK), create(), update(DISK), ...attachVerbs(), resize(), remove()];
}
