import type { AnyCommand } from "../framework.ts";
import { resolveEndpoint } from "../kit/connection.ts";
import { withIo } from "../kit/run.ts";
import { imageRecordVerbs } from "../opsctl/image/verbs.ts";
import type { Host } from "./host.ts";
import { imageVerbs } from "./verbs.ts";

export function opsctlImageVerbs(): AnyCommand[] {
  const host: Host = {
    withIo,
    index_variable: "OPSCTL_INDEX",
    endpoint: (io) => resolveEndpoint(io.world, io.flags),
  };
  return [...imageVerbs(host), ...imageRecordVerbs(host)];
}
