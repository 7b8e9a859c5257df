// Defines the verbs of `session`, which list and end the caller's sessions of programs and of the web console.
import type { SessionListed } from "../../src/contract/identity.ts";
import { type AnyCommand, listCommand } from "../framework.ts";
import { deleteCommand } from "./delete-command.ts";
import type { Io } from "./io.ts";
import { pickRecord, type RecordKind } from "./record-name.ts";
import { AGE_COLUMN, type Column, WIDE_COLUMN } from "./table.ts";

export const SESSIONS_PATH = "/v1/auth/sessions";

const COLUMNS: readonly Column<SessionListed>[] = [
  ["ID", (session) => session.id],
  ["OF", (session) => textOf(session)],
  ["CURRENT", (session) => session.is_current ? "yes" : "no"],
  ["API_KEY", (session) => session.api_key_id, WIDE_COLUMN],
  ["AGE", (session) => session.created_at, AGE_COLUMN],
  ["LAST_REFRESH", (session) => session.refreshed_at, AGE_COLUMN],
  ["EXPIRES_AT", (session) => session.expires_at],
  ["CREATED_AT", (session) => session.created_at, WIDE_COLUMN],
];

const SESSION: RecordKind<SessionListed> = {
  one: "session",
  many: "sessions",
  id: ({ id }) => id,
  title: textOf,
};

/** Makes the action of a verb from its body. Each program passes its own function. */
type WithIo = <R extends unknown[]>(body: (io: Io, ...rest: R) => Promise<void>) => (...rest: R) => Promise<void>;

export function sessionVerbs(withIo: WithIo): AnyCommand[] {
  const list = listCommand("list", "List your sessions, newest first").action(withIo(async (io: Io) => {
    const sessions = await io.get<SessionListed[]>(SESSIONS_PATH);
    io.table(sessions, sessions, COLUMNS, "(no sessions)");
  }));
  const end = deleteCommand("end", "End one of your sessions; its tokens are refused at once", "0191b0a2")
    .argument("<session>", "UUID or unique UUID prefix (session list)")
    .action(withIo(async (io: Io, name: string) => {
      const { id } = pickRecord(await io.get<SessionListed[]>(SESSIONS_PATH), name, SESSION);
      await io.send({ method: "DELETE", path: `${SESSIONS_PATH}/${id}` });
      io.print(null, `Ended session ${id}`);
    }));
  return [list, end];
}

function textOf({ kind }: SessionListed): string {
  return kind === "web" ? "web console" : "program";
}
