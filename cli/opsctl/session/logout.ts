import { type AnyCommand } from "../../framework.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { profileName } from "../../internal/connection.ts";
import { EXIT, type ExitCode } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import { type Io, openIo } from "../../internal/io.ts";
import { readCredentials, type SavedCredential, type Session, writeCredentials } from "../../internal/profile.ts";
import { withIo } from "../../internal/run.ts";

export function logout(summary: string): AnyCommand {
  return deleteCommand("logout", summary)
    .action(withIo(async (io) => {
      const name = await profileName(io.environment, io.flags);
      const saved = (await readCredentials(io.environment)).get(name);
      const failed = saved === undefined || "api_key" in saved ? null : await endSession(io, name, saved);
      // Reads the credentials again: endSession may have renewed the session and saved new tokens.
      const credentials = await readCredentials(io.environment);
      const deleted = credentials.delete(name);
      if (deleted) await writeCredentials(io.environment, credentials);
      if (failed !== null) {
        const { why, exit_code } = failed;
        throw new Failure(
          `the credential of profile ${name} is deleted, but its session could not be ended: ${why}`,
          exit_code,
        );
      }
      io.print(
        { profile: name, erased: deleted },
        saved === undefined ? `Profile ${name} has no saved credential` : done(name, saved),
      );
    }));
}

function done(name: string, saved: SavedCredential): string {
  const after = "api_key" in saved ? "the key stays valid on the server" : "the session has ended";
  return `Logged out of profile ${name}; ${after}`;
}

type Failed = { readonly why: string; readonly exit_code: ExitCode };

/** Ends the session at the server. Returns null if the session has ended, or the reason why it could not be ended. */
async function endSession(io: Io, profile: string, { endpoint, refresh_expires_at }: Session): Promise<Failed | null> {
  try {
    // The endpoint and the profile are given like flags, which override the environment. So the request ends the saved
    // session.
    await openIo(io.environment, { endpoint, profile }, "opsctl").post("/v1/auth/logout");
    return null;
  } catch (error) {
    if (!(error instanceof Failure) || error.exit_code === EXIT.interrupted) throw error;
    // The session had already ended.
    if (error.exit_code === EXIT.auth) return null;
    return { why: `${error.message}; it expires at ${refresh_expires_at}`, exit_code: error.exit_code };
  }
}
