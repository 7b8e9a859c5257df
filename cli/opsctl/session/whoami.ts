import type { Whoami } from "../../../src/contract/api-key.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { blockText } from "../../internal/table.ts";

export function whoami(summary: string): AnyCommand {
  return command("whoami", summary)
    .action(withIo(async (io) => {
      const who = await io.get<Whoami>("/v1/auth/whoami");
      io.print(
        who,
        blockText([
          ["user_id", who.user_id],
          ["username", who.username],
          ["is_root", who.is_root],
          ["capabilities", who.capabilities.join(",")],
          ["tenant_id", who.tenant_id],
          ["silo_id", who.silo_id],
          ["key_id", who.key_id],
          ["scope", who.scope],
          ["bound_to_cn", who.bound_to_cn],
          ["expires_at", who.expires_at],
        ]),
      );
    }));
}
