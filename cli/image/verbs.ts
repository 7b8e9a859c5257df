// The image verbs of opsctl and tenantctl. They need only an index: no control plane and no credential.
import type { AnyCommand } from "../framework.ts";
import { download } from "./download.ts";
import type { Host } from "./host.ts";
import { info } from "./info.ts";
import { mirror } from "./mirror.ts";
import { search } from "./search.ts";
import { verify } from "./verify.ts";

export function imageVerbs(host: Host): AnyCommand[] {
  return [search(host), info(host), download(host), verify(host), mirror(host)];
}
