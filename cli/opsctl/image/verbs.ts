import type { AnyCommand } from "../../framework.ts";
import type { Host } from "../../image/host.ts";
import { remove } from "./delete.ts";
import { importImage } from "./import.ts";
import { list } from "./list.ts";

export function imageRecordVerbs(host: Host): AnyCommand[] {
  return [importImage(host), list(), remove()];
}
