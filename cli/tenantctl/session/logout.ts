import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import { eraseLogin } from "./saved-login.ts";

export function logout(summary: string): AnyCommand {
  return command("logout", summary)
    .action(withIo(async (io) => {
      const erased = await eraseLogin(io.world);
      io.print({ erased }, erased ? "Logged out; the key stays valid on the server" : "Nobody is logged in");
    }));
}
