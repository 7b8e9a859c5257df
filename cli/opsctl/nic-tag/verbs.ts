import type { AnyCommand } from "../../framework.ts";
import { list, remove, show } from "../record/verbs.ts";
import { create } from "./create.ts";
import { NIC_TAG } from "./tag.ts";

export function nicTagVerbs(): AnyCommand[] {
  return [list(NIC_TAG), show(NIC_TAG), create(), remove(NIC_TAG)];
}
