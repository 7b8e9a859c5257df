import type { AnyCommand } from "../framework.ts";
import { imageVerbs } from "../image/verbs.ts";
import { resolveEndpoint } from "./connection.ts";
import { create } from "./image/create.ts";
import { remove } from "./image/delete.ts";
import { list } from "./image/list.ts";
import { show } from "./image/show.ts";
import { update } from "./image/update.ts";
import { upload } from "./image/upload.ts";
import { withIo } from "./open-io.ts";

export function tenantImageVerbs(): AnyCommand[] {
  const ofIndex = imageVerbs({
    withIo,
    index_variable: "TENANTCTL_INDEX",
    endpoint: (io) => resolveEndpoint(io.environment, io.flags),
  });
  return [list(), show(), create(), update(), upload(), remove(), ...ofIndex];
}
