import type { AnyCommand } from "../../framework.ts";
import { resolveEndpoint } from "../../internal/connection.ts";
import { withIo } from "../../internal/run.ts";
import { imageRecordVerbs } from "./verbs.ts";
import type { Host } from "../../image/host.ts";
import { imageVerbs } from "../../image/verbs.ts";

export function opsctlImageVerbs(): AnyCommand[] {
  const host: Host = {
    withIo,
    index_variable: "OPSCTL_INDEX",
    endpoint: (io) => resolveEndpoint(io.environment, io.flags),
  };
  return [...imageVerbs(host), ...imageRecordVerbs(host)];
}
