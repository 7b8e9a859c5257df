import { type AnyCommand, command } from "../../framework.ts";
import { profileName } from "../../kit/connection.ts";
import { readCredentials, writeCredentials } from "../../kit/profile.ts";
import { withIo } from "../../kit/run.ts";

export function logout(summary: string): AnyCommand {
  return command("logout", summary)
    .action(withIo(async (io) => {
      const name = await profileName(io.world, io.flags);
      const credentials = await readCredentials(io.world);
      const erased = credentials.delete(name);
      if (erased) await writeCredentials(io.world, credentials);
      io.print(
        { profile: name, erased },
        erased ? `Logged out of profile ${name}; the key stays valid on the server` : `Profile ${name} holds no key`,
      );
    }));
}
