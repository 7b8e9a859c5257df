// Prints the owner of the credential.
import type { Whoami } from "../../src/contract/api-key.ts";
import type { Io } from "./io.ts";
import { blockText } from "./table.ts";

/** Asks the server for the owner of the credential and prints it. */
export async function printOwner(io: Io): Promise<void> {
  const who = await io.get<Whoami>("/v1/auth/whoami");
  io.print(
    who,
    blockText([
      ["user_id", who.user_id],
      ["username", who.username],
      ["is_root", who.is_root],
      ["capabilities", who.capabilities.join(",")],
      ["tenant_id", who.tenant_id],
      ["tenant_name", who.tenant_name],
      ["silo_id", who.silo_id],
      ["silo_name", who.silo_name],
      ["key_id", who.key_id],
      ["scope", who.scope],
      ["bound_to_cn", who.bound_to_cn],
      ["expires_at", who.expires_at],
    ]),
  );
}
