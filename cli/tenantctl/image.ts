import type { AnyCommand } from "../framework.ts";
import { imageVerbs } from "../image/verbs.ts";
import { resolveEndpoint } from "./connection.ts";
import { withIo } from "./open-io.ts";

export function tenantImageVerbs(): AnyCommand[] {
  return imageVerbs({
    withIo,
    index_variable: "TENANTCTL_INDEX",
    endpoint: (io) => resolveEndpoint(io.world, io.flags),
  });
}
