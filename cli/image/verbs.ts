// Lists the image verbs that opsctl and tenantctl share. These verbs read an image index (docs/image-index.md), so they
// need no credential. They need a control plane only if they read its index, which is the default. The other image
// verbs of each program need a control plane and a credential.
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
