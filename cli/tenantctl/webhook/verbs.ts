import type { AnyCommand } from "../../framework.ts";
import { remove } from "../record/delete.ts";
import { list } from "../record/list.ts";
import { show } from "../record/show.ts";
import { create } from "./create.ts";
import { deliveries } from "./deliveries.ts";
import { redeliver } from "./redeliver.ts";
import { test } from "./test.ts";
import { update } from "./update.ts";
import { WEBHOOK } from "./webhook.ts";

export function webhookVerbs(): AnyCommand[] {
  return [
    list(WEBHOOK),
    show(WEBHOOK),
    create(),
    update(),
    remove(WEBHOOK),
    deliveries(),
    redeliver(),
    test(),
  ];
}
