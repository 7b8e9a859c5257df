// Queries on console sessions.
import { type Kysely, sql } from "kysely";
import { CONSOLE_READS, type ConsoleMode, type InstanceState } from "../../src/contract/enums.ts";
import type { Database } from "../../src/db/tables.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";

type Db = Kysely<Database>;

/** The session that a ticket opens, with the credential of the caller who requested the ticket. */
export type TicketSession = {
  readonly id: string;
  readonly instance_id: string;
  readonly mode: ConsoleMode;
  readonly user_id: string;
  readonly key_id: string | null;
  readonly login_id: string | null;
  readonly credential_expires_at: Date | null;
  readonly is_root: boolean;
};

/** Finds the session of an unused ticket. Unknown, expired and used tickets give the same result. */
export async function findTicketSession(db: Db, ticket_sha256: string): Promise<TicketSession | undefined> {
  return await db.selectFrom("console_session")
    .select(["id", "instance_id", "mode", "user_id", "key_id", "login_id", "credential_expires_at", "is_root"])
    .where("ticket_sha256", "=", ticket_sha256).where("state", "=", "ticket")
    .where("expires_at", ">", sql<Date>`(select berth_now())`).executeTakeFirst();
}

/** A call: the request to a node to connect for a session. In the state `told`, the call was sent to the node. */
export type ConsoleCallRow = {
  readonly id: string;
  readonly instance_id: string;
  readonly mode: ConsoleMode;
  readonly take_over: boolean;
  readonly history_bytes: number;
  readonly username: string;
  readonly relay_url: string | null;
  readonly state: "calling" | "told";
};

/** Lists at most `rows` calls to which the node has not connected yet, oldest first. */
export async function findConsoleCalls(db: Db, cn: string, rows: number): Promise<ConsoleCallRow[]> {
  const found = await db.selectFrom("console_session")
    .select(["id", "instance_id", "mode", "take_over", "history_bytes", "username", "relay_url", "state"])
    .where("cn", "=", cn).where("state", "in", ["calling", "told"]).where(
      "expires_at",
      ">",
      sql<Date>`(select berth_now())`,
    )
    .orderBy("created_at").limit(rows).execute();
  return found.map(({ state, ...call }) => ({ ...call, state: state === "calling" ? "calling" : "told" }));
}

/** The instance of a console, with its resource scope. */
export type ConsoleInstance = {
  readonly id: string;
  readonly name: string;
  readonly state: InstanceState;
  readonly host_cn_uuid: string | null;
  readonly silo_id: string;
  readonly tenant_id: string;
  readonly project_id: string;
};

/** Finds the instances of consoles, by id. The result has no entry for a deleted instance. */
export async function findConsoleInstances(db: Db, ids: readonly string[]): Promise<Map<string, ConsoleInstance>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom("instance as i").innerJoin("tenant as t", "t.id", "i.tenant_id")
    .select(["i.id", "i.name", "i.state", "i.host_cn_uuid", "t.silo_id", "i.tenant_id", "i.project_id"])
    .where("i.id", "in", ids).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** An open console, as the API shows it. */
export type OpenConsoleRow = {
  readonly session_id: string;
  readonly user_id: string;
  readonly username: string;
  readonly mode: "write" | "watch";
  readonly since: string;
};

/** Lists the open consoles of an instance, oldest first. A read of the log or the screen is not in the list. */
export async function listOpenConsoles(db: Db, instance_id: string): Promise<OpenConsoleRow[]> {
  const found = await db.selectFrom("console_session").select(["id", "user_id", "username", "mode", "created_at"])
    .where("instance_id", "=", instance_id).where("state", "=", "open").where("mode", "not in", CONSOLE_READS)
    .where("expires_at", ">", sql<Date>`(select berth_now())`).orderBy("created_at").execute();
  return found.map(({ id: session_id, mode, created_at, ...user }) => ({
    session_id,
    ...user,
    mode: mode === "watch" ? "watch" : "write",
    since: toRfc3339(created_at),
  }));
}
