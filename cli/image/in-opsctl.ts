import type { AnyCommand } from "../framework.ts";
import { resolveEndpoint } from "../kit/connection.ts";
import { withIo } from "../kit/run.ts";
import { imageVerbs } from "./verbs.ts";

export function opsctlImageVerbs(): AnyCommand[] {
  return imageVerbs({ withIo, index_variable: "OPSCTL_INDEX", endpoint: (io) => resolveEndpoint(io.world, io.flags) });
}
