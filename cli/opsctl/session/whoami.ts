import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { printOwner } from "../../internal/whoami.ts";

export function whoami(summary: string): AnyCommand {
  return command("whoami", summary).action(withIo(printOwner));
}
