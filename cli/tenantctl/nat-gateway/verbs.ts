import type { AnyCommand } from "../../framework.ts";
import { remove } from "../record/delete.ts";
import { list } from "../record/list.ts";
import { show } from "../record/show.ts";
import { update } from "../record/update.ts";
import { create } from "./create.ts";
import { NAT_GATEWAY } from "./nat-gateway.ts";

export function natGatewayVerbs(): AnyCommand[] {
  return [list(NAT_GATEWAY), show(NAT_GATEWAY), create(), update(NAT_GATEWAY), remove(NAT_GATEWAY)];
}
