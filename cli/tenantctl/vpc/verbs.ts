import type { AnyCommand } from "../../framework.ts";
import { remove } from "../record/delete.ts";
import { list } from "../record/list.ts";
import { show } from "../record/show.ts";
import { update } from "../record/update.ts";
import { create } from "./create.ts";
import { VPC } from "./vpc.ts";

export function vpcVerbs(): AnyCommand[] {
  return [list(VPC), show(VPC), create(), update(VPC), remove(VPC)];
}
