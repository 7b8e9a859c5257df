import { type AnyCommand, showCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { findUser, USER_ARGUMENT, userText } from "./user.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show one user", "alice")
    .argument(...USER_ARGUMENT)
    .action(withIo(async (io, name) => {
      const user = await findUser(io, name);
      io.print(user, userText(user));
    }));
}
