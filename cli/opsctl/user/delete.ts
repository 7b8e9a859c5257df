import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { findUser, USER_ARGUMENT, userPath, userTitle } from "./user.ts";

export function remove(): AnyCommand {
  return command("delete", "Delete a user without API keys; the user's sessions end at once", "alice")
    .argument(...USER_ARGUMENT)
    .action(withIo(async (io, name) => {
      const user = await findUser(io, name);
      await io.send({ method: "DELETE", path: userPath(user.id) });
      io.print(null, `Deleted user ${userTitle(user)}`);
    }));
}
