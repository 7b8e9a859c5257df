import type { AnyCommand } from "../../framework.ts";
import { remove } from "../record/delete.ts";
import { list } from "../record/list.ts";
import { show } from "../record/show.ts";
import { update } from "../record/update.ts";
import { create } from "./create.ts";
import { setRouteTable } from "./set-route-table.ts";
import { SUBNET } from "./subnet.ts";

export function subnetVerbs(): AnyCommand[] {
  return [list(SUBNET), show(SUBNET), create(), update(SUBNET), setRouteTable(), remove(SUBNET)];
}
