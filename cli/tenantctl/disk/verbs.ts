import type { AnyCommand } from "../../framework.ts";
import { list } from "../record/list.ts";
import { show } from "../record/show.ts";
import { DISK } from "./disk.ts";
import { resize } from "./resize.ts";

export function diskVerbs(): AnyCommand[] {
  return [list(DISK), show(DISK), resize()];
}
