import type { AnyCommand } from "../../framework.ts";
import { list, remove, show } from "../record/verbs.ts";
import { create } from "./create.ts";
import { grant } from "./grant.ts";
import { revoke } from "./revoke.ts";
import { setPassword } from "./set-password.ts";
import { USER } from "./user.ts";

export function userVerbs(): AnyCommand[] {
  return [list(USER), show(USER), create(), setPassword(), grant(), revoke(), remove(USER)];
}
