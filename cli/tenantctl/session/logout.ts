import { type AnyCommand } from "../../framework.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { sendForAnswer } from "../../internal/api.ts";
import { Failure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import type { Session } from "../../internal/profile.ts";
import { renewSession } from "../../internal/session.ts";
import { withIo } from "../open-io.ts";
import { USER_AGENT } from "../user-agent.ts";
import { eraseLogin, profileOf, readLogin, type SavedLogin } from "./saved-login.ts";

const UNAUTHENTICATED = 401;

export function logout(summary: string): AnyCommand {
  return deleteCommand("logout", summary)
    .action(withIo(async (io) => {
      // A damaged login is deleted, too.
      const profile = await profileOf(io.environment, io.flags);
      const login = await readLogin(io.environment, profile).catch((): "damaged" => "damaged");
      if (login !== null && login !== "damaged" && "access_token" in login) await endSession(io, profile, login);
      await eraseLogin(io.environment, profile);
      io.print({ erased: login !== null }, logoutText(login));
    }));
}

function logoutText(login: SavedLogin | "damaged" | null): string {
  if (login === null) return "You are not logged in";
  if (login === "damaged") return "Deleted a damaged saved login";
  return "api_key" in login ? "Logged out; the key stays valid on the server" : "Logged out; the session has ended";
}

/**
 * Ends the session at the server. A session that has already ended is not a failure. If the request fails for another
 * reason, deletes the saved login and throws the failure.
 */
async function endSession(io: Io, profile: string, session: Session): Promise<void> {
  const { endpoint } = session;
  const server = { endpoint, user_agent: USER_AGENT };
  // Renews an expired access token, so that the session can be ended.
  const renew = async () =>
    (await renewSession(io.environment, server, { tokens: session, expired_text: "ended" })).access_token;
  try {
    const link = { ...server, token: session.access_token, renew };
    await sendForAnswer(io.environment, link, { method: "POST", path: "/v1/auth/logout" });
  } catch (error) {
    await eraseLogin(io.environment, profile);
    if (!(error instanceof Failure)) throw error;
    // The session had already ended.
    if (error.status === UNAUTHENTICATED) return;
    const { message, exit_code, error_code, request_id, status } = error;
    const text =
      `${message}; the saved login is deleted, but the server's session lasts until ${session.refresh_expires_at}`;
    throw new Failure(text, exit_code, { error_code, request_id, status: status ?? undefined });
  }
}
