import type { Silo } from "../../../src/contract/tenancy.ts";
import type { AnyCommand } from "../../framework.ts";
import { list, remove, show, update } from "../record/verbs.ts";
import { create } from "./create.ts";
import { SILO } from "./silo.ts";

export function siloVerbs(): AnyCommand[] {
  return [
    list(SILO),
    show(SILO),
    create(),
    update<Silo, Silo>(SILO, { sample: '--description "customer since 2026"', changed: (_, silo) => silo }),
    remove(SILO),
  ];
}
