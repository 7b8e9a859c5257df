import type { AnyCommand } from "../../framework.ts";
import { create } from "./create.ts";
import { remove } from "./delete.ts";
import { grant } from "./grant.ts";
import { list } from "./list.ts";
import { revoke } from "./revoke.ts";
import { setPassword } from "./set-password.ts";
import { show } from "./show.ts";

export function userVerbs(): AnyCommand[] {
  return [list(), show(), create(), setPassword(), grant(), revoke(), remove()];
}
