import type { AnyCommand } from "../../framework.ts";
import { describe, events } from "../../internal/describe.ts";
import { actions } from "./action.ts";
import { consoles, openConsoleVerb } from "./console.ts";
import { create } from "./create.ts";
import { remove } from "./delete.ts";
import { DESCRIBED_INSTANCE } from "./describe.ts";
import { list } from "./list.ts";
import { load } from "./load.ts";
import { log } from "./log.ts";
import { metrics } from "./metrics.ts";
import { screenshot } from "./screenshot.ts";
import { rebuild } from "./rebuild.ts";
import { resize } from "./resize.ts";
import { show } from "./show.ts";
import { update } from "./update.ts";

export function instanceVerbs(): AnyCommand[] {
  return [
    list(),
    show(),
    describe(DESCRIBED_INSTANCE),
    events(DESCRIBED_INSTANCE),
    create(),
    ...actions(),
    openConsoleVerb(),
    consoles(),
    log(),
    metrics(),
    load(),
    screenshot(),
    update(),
    resize(),
    rebuild(),
    remove(),
  ];
}
