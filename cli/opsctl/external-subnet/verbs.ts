import type { AnyCommand } from "../../framework.ts";
import { list, remove, show } from "../record/verbs.ts";
import { create } from "./create.ts";
import { EXTERNAL_SUBNET } from "./subnet.ts";

export function externalSubnetVerbs(): AnyCommand[] {
  return [list(EXTERNAL_SUBNET), show(EXTERNAL_SUBNET), create(), remove(EXTERNAL_SUBNET)];
}
