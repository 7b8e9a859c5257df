// Logs in to a BMC. Uses a session if the BMC opens one, because the password is then sent only once. Uses Basic
// authentication if the BMC has no sessions or refuses a session. Some BMCs refuse a session although the password is
// right, for example because all their sessions are in use.
import { Buffer } from "node:buffer";
import type { Call } from "./bmc.ts";
import { BmcFault } from "./fault.ts";
import { bagOf, linkOf, messagesOf, textOf } from "./messages.ts";
import { pathOfLocation } from "./redirect.ts";

export type Login = {
  readonly headers: Readonly<Record<string, string>>;
  /** The path of the session, which must be deleted at the end; null without a session. */
  readonly session: string | null;
};

const ROOT = "/redfish/v1/";
const SESSIONS = "/redfish/v1/SessionService/Sessions";
const SYSTEMS = "/redfish/v1/Systems";
/**
 * Statuses of a BMC that has no sessions or refuses this session. After these statuses, Basic authentication is tried.
 */
const NO_SESSION: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 500, 501, 503]);

export async function openLogin(
  call: Call,
  { user, password }: { readonly user: string; readonly password: string },
): Promise<Login> {
  // Finds the path of the sessions in the service root, because it differs on a few BMCs. The root needs no login.
  const { status, body: root } = await call("GET", ROOT);
  if (status === 404) throw new BmcFault("the host has no Redfish service at /redfish/v1/", status);
  const sessions = linkOf(bagOf(root.Links).Sessions) ?? SESSIONS;
  const opened = await call("POST", sessions, { body: { UserName: user, Password: password } });
  const token = opened.headers["x-auth-token"];
  if ([200, 201, 204].includes(opened.status) && token !== undefined) {
    const session = pathOfLocation(opened.headers.location, sessions) ?? linkOf(opened.body);
    return { headers: { "x-auth-token": token }, session };
  }
  const reason = `${opened.status} ${textOf(messagesOf(opened.body))}`.trim();
  if (opened.status >= 300 && !NO_SESSION.has(opened.status)) {
    throw new BmcFault(`the BMC refused a session: ${reason}`, opened.status);
  }
  const headers = { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` };
  const tried = await call("GET", linkOf(root.Systems) ?? SYSTEMS, { headers });
  if (tried.status === 401 || tried.status === 403) {
    throw new BmcFault(
      opened.status === 503
        ? `the BMC refused a session (${reason}) and refused the password without one`
        : "the BMC refused the user name or the password",
      tried.status,
    );
  }
  return { headers, session: null };
}
