import { type AnyCommand, command } from "../../framework.ts";
import { sendForAnswer } from "../../internal/api.ts";
import { Failure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import type { Session } from "../../internal/profile.ts";
import { renewSession } from "../../internal/session.ts";
import { withIo } from "../open-io.ts";
import { USER_AGENT } from "../user-agent.ts";
import { eraseLogin, readLogin, type SavedLogin } from "./saved-login.ts";

const UNAUTHENTICATED = 401;

export function logout(summary: string): AnyCommand {
  return command("logout", summary)
    .action(withIo(async (io) => {
      // A damaged file is erased too.
      const login = await readLogin(io.environment).catch((): "damaged" => "damaged");
      if (login !== null && login !== "damaged" && "access_token" in login) await endSession(io, login);
      await eraseLogin(io.environment);
      io.print({ erased: login !== null }, wordsOf(login));
    }));
}

function wordsOf(login: SavedLogin | "damaged" | null): string {
  if (login === null) return "Nobody is logged in";
  if (login === "damaged") return "Erased a saved login that could not be read";
  return "api_key" in login ? "Logged out; the key stays valid on the server" : "Logged out; the session has ended";
}

/** Whatever the server answers, nothing is kept here: that is what was asked for. */
async function endSession(io: Io, session: Session): Promise<void> {
  const { endpoint } = session;
  const place = { endpoint, user_agent: USER_AGENT };
  // An access token that has run out is no reason to leave the session open.
  const renew = async () =>
    (await renewSession(io.environment, place, { tokens: session, over: "ended" })).access_token;
  try {
    const link = { ...place, token: session.access_token, renew };
    await sendForAnswer(io.environment, link, { method: "POST", path: "/v1/auth/logout" });
  } catch (error) {
    await eraseLogin(io.environment);
    if (!(error instanceof Failure)) throw error;
    // It has ended already.
    if (error.status === UNAUTHENTICATED) return;
    const { message, exit_code, error_code, request_id, status } = error;
    const argv = `${message}; the saved session is erased, at the server it ends at ${session.refresh_expires_at}`;
    throw new Failure(argv, exit_code, { error_code, request_id, status: status ?? undefined });
  }
}
