import type { AnyCommand } from "../../framework.ts";
import { remove } from "../record/delete.ts";
import { list } from "../record/list.ts";
import { show } from "../record/show.ts";
import { update } from "../record/update.ts";
import { attach } from "./attach.ts";
import { create } from "./create.ts";
import { detach } from "./detach.ts";
import { FLOATING_IP } from "./floating-ip.ts";

export function floatingIpVerbs(): AnyCommand[] {
  return [
    list(FLOATING_IP),
    show(FLOATING_IP),
    create(),
    update(FLOATING_IP),
    attach(),
    detach(),
    remove(FLOATING_IP),
  ];
}
