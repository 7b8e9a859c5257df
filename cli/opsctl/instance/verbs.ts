import type { AnyCommand } from "../../framework.ts";
import { remove, start, stop } from "./action.ts";
import { describe, events } from "../../internal/describe.ts";
import { DESCRIBED_INSTANCE } from "./describe.ts";
import { list, show } from "../record/verbs.ts";
import { INSTANCE } from "./instance.ts";
import { migrate, migrations } from "./migrate.ts";
import { reset } from "./reset.ts";
import { screenshot } from "./screenshot.ts";

export function instanceVerbs(): AnyCommand[] {
  return [
    list(INSTANCE),
    show(INSTANCE),
    describe(DESCRIBED_INSTANCE),
    events(DESCRIBED_INSTANCE),
    start(),
    stop(),
    screenshot(),
    reset(),
    migrate(),
    migrations(),
    remove(),
  ];
}
