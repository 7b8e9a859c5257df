import type { User } from "../../../src/contract/identity.ts";
import { type AnyCommand } from "../../framework.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { withIo } from "../../internal/run.ts";
import { CAPABILITY_ARGUMENT, capabilityPath, capabilityText } from "./capability.ts";
import { resolveUser, USER_ARGUMENT } from "./user.ts";

export function revoke(): AnyCommand {
  return deleteCommand("revoke", "Revoke a capability from a user", "alice silo-admin")
    .argument(...USER_ARGUMENT)
    .argument(...CAPABILITY_ARGUMENT)
    .action(withIo(async (io, name, capability) => {
      const path = capabilityPath(await resolveUser(io, name), capability);
      const user = await io.send<User>({ method: "DELETE", path });
      io.print(user, capabilityText(user));
    }));
}
