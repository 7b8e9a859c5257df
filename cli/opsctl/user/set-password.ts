import type { User } from "../../../src/contract/identity.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { readNewPassword } from "../../internal/password.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { findUser, PASSWORD_STDIN_OPTION, USER_ARGUMENT, userPath, userTitle } from "./user.ts";

export function setPassword(): AnyCommand {
  return command("set-password", "Set the password of a user; the user's sessions end at once", "alice")
    .argument(...USER_ARGUMENT)
    .option(...PASSWORD_STDIN_OPTION)
    .action(withIo(async (io, name, { passwordStdin }) => {
      const { id, username } = await findUser(io, name);
      const source = { prompt: `New password of ${plainText(username)}: `, from_stdin: passwordStdin === true };
      const body = { password: await readNewPassword(io, source) };
      const user = await io.send<User>({ method: "PUT", path: `${userPath(id)}/password`, body });
      io.print(user, `Set the password of user ${userTitle(user)}`);
    }));
}
