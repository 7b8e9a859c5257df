// Runs one measurement of the engine. For a fixed time, senders send messages to actors. Each sender waits for the
// reply before it sends its next message. After the run, the tables must contain exactly one transition and one reply
// for each acknowledged message.
import type { Engine } from "../../actors/engine/engine.ts";
import type { DbClient } from "../../src/db/pool.ts";
import { cpuTime_ms } from "./cpu-time.ts";
import type { Subject } from "./subjects.ts";

export type EngineLoadOptions = {
  readonly engine: Engine;
  readonly subject: Subject;
  readonly ids: readonly string[];
  /** The number of messages that each actor got in earlier runs. Each run updates this map. */
  readonly sent: Map<string, number>;
  /** The number of senders for each actor, which is also the number of the actor's outstanding messages. */
  readonly senders: number;
  readonly seconds: number;
  readonly db: DbClient;
  readonly serverPid: number;
};

export type LoadResult = {
  readonly messages_per_s: number;
  /**
   * The processor time in cores. 1 means that one core was busy during the whole run. Null on systems without /proc.
   */
  readonly engine_cores: number | null;
  readonly server_cores: number | null;
  /** The cores of the load process and the response times. Only runs over HTTP have these. */
  readonly load_cores?: number;
  readonly p50_ms?: number;
  readonly p99_ms?: number;
};

/** The unmeasured time at the start. It warms query plans, caches and compiled code. */
const WARM_UP_MS = 1_500;

export async function runEngineLoad(options: EngineLoadOptions): Promise<LoadResult> {
  const before = await countRows(options.db);
  let acknowledged = 0;
  let stopped = false;

  async function sender(id: string): Promise<void> {
    const to = { kind: options.subject.behavior.kind, id };
    while (!stopped) {
      const nth = options.sent.get(id) ?? 0;
      options.sent.set(id, nth + 1);
      const outcome = await options.engine.send(to, options.subject.message(nth), { origin: options.subject.origin });
      if (!outcome.ok) throw new Error(`a message was rejected: ${outcome.fault.message}`);
      acknowledged += 1;
    }
  }

  const senders = Promise.all(options.ids.flatMap((id) => Array.from({ length: options.senders }, () => sender(id))));
  await Promise.race([senders, sleep(WARM_UP_MS)]);
  const start = await mark(options.serverPid, acknowledged);
  await Promise.race([senders, sleep(options.seconds * 1_000)]);
  const end = await mark(options.serverPid, acknowledged);
  stopped = true;
  await senders;

  await checkRows(options, before, acknowledged);
  const elapsed_ms = end.at_ms - start.at_ms;
  const cores = (from: number | null, to: number | null) =>
    from === null || to === null ? null : (to - from) / elapsed_ms;
  return {
    messages_per_s: (end.acknowledged - start.acknowledged) / elapsed_ms * 1_000,
    engine_cores: cores(start.engine_ms, end.engine_ms),
    server_cores: cores(start.server_ms, end.server_ms),
  };
}

async function mark(serverPid: number, acknowledged: number) {
  const at_ms = performance.now();
  const [engine_ms, server_ms] = await Promise.all([cpuTime_ms(Deno.pid), cpuTime_ms(serverPid)]);
  return { at_ms, acknowledged, engine_ms, server_ms };
}

export type RowCounts = { readonly transitions: number; readonly replies: number };

export async function countRows(db: DbClient): Promise<RowCounts> {
  const { rows } = await db.query<RowCounts>(
    `select (select count(distinct msg_id) from transition) as transitions, (select count(*) from seen) as replies`,
  );
  const [counts] = rows;
  if (counts === undefined) throw new Error("the count query returned no row");
  return counts;
}

async function checkRows(
  { db, subject, ids }: EngineLoadOptions,
  before: RowCounts,
  acknowledged: number,
): Promise<void> {
  const after = await countRows(db);
  expectEqual("transition rows", after.transitions - before.transitions, acknowledged);
  expectEqual("reply rows", after.replies - before.replies, acknowledged);
  // The inserted actors begin at version 1 without a transition row.
  const { rows } = await db.query<{ risen: number }>(
    `select coalesce(sum(version - 1), 0)::bigint - (select count(*) from transition where actor_id = any($1::text[])) as risen
       from ${subject.behavior.table} where ${subject.behavior.key} = any($2::uuid[])`,
    [ids, ids],
  );
  expectEqual("versions without a transition row", rows[0]?.risen ?? -1, 0);
}

export function expectEqual(what: string, found: number, wanted: number): void {
  if (found !== wanted) throw new Error(`${what}: found ${found}, expected ${wanted}`);
}

const sleep = (ms: number) => new Promise((wake) => setTimeout(wake, ms));
