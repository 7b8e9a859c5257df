// Finds the console calls for a node. Each call belongs to a console whose caller waits until the node connects.
import { type ConsoleCallRow, findConsoleCalls } from "../../actors/console-session/reads.ts";
import type { ConsoleCall } from "../contract/console.ts";
import { CONSOLE_CALLS_MAX } from "../contract/limits.ts";
import type { Ctx, RouteDeps } from "../routes/deps.ts";

type Asked = { readonly server_uuid: string; readonly consoles: readonly string[] | null };

/**
 * Returns the calls that the node does not know yet. Marks new calls as sent, so that they no longer wake the node's
 * long poll.
 */
export async function consoleCalls(
  c: Ctx,
  { kysely, send }: Pick<RouteDeps, "kysely" | "send">,
  { server_uuid, consoles }: Asked,
): Promise<ConsoleCall[]> {
  if (consoles === null) return [];
  const known = new Set(consoles);
  const found = await findConsoleCalls(kysely, server_uuid, CONSOLE_CALLS_MAX);
  // If the session has ended, its actor refuses the message. The node then gets the call, connects, and is refused.
  const isNew = ({ state }: ConsoleCallRow) => state === "calling";
  await Promise.all(
    found.filter(isNew).map(({ id }) => send(c, { kind: "console-session", id }, { type: "tell" })),
  );
  return found.filter(({ id }) => !known.has(id)).map(({ id: session_id, state: _state, ...call }) => ({
    session_id,
    ...call,
  }));
}
