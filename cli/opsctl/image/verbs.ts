import type { AnyCommand } from "../../framework.ts";
import type { Host } from "../../image/host.ts";
import { list, remove, show } from "../record/verbs.ts";
import { importImage } from "./import.ts";
import { IMAGE } from "./record.ts";

export function imageRecordVerbs(host: Host): AnyCommand[] {
  return [importImage(host), list(IMAGE), show(IMAGE), remove(IMAGE)];
}
