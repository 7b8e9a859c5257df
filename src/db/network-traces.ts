// Stores packet traces. A trace asks nodes where a packet stops. The questions and the answers are stored, because the
// process that asks and the process that the node polls may be different processes.
import { TRACES_OPEN_MAX } from "../contract/limits.ts";
import type { TraceAnswer, TraceQuestion } from "../contract/network-trace.ts";
import type { Db } from "./pool.ts";

/** The age at which a question is deleted, in seconds. The request that asked the question has ended long before. */
const KEPT_S = 60;

/** Stores a question for a node. Returns false if too many questions are open for the node. */
export async function askTrace(db: Db, server_uuid: string, question: TraceQuestion): Promise<boolean> {
  const { rows } = await db.query(
    `insert into network_trace (id, server_uuid, question)
       select $1::uuid, $2::uuid, $3::jsonb
        where (select count(*) from network_trace where server_uuid = $2::uuid and answer is null) < $4
     returning id`,
    [question.trace_id, server_uuid, JSON.stringify(question), TRACES_OPEN_MAX],
  );
  return rows.length === 1;
}

/**
 * Returns the nodes that have open questions. One query for all waiting nodes suffices, because only a few nodes have a
 * question.
 */
export async function listAskedNodes(db: Db): Promise<readonly string[]> {
  const { rows } = await db.query<{ server_uuid: string }>(
    "select distinct server_uuid from network_trace where answer is null",
    [],
    "asked nodes",
  );
  return rows.map(({ server_uuid }) => server_uuid);
}

/** Lists the open questions of a node, oldest first. */
export async function listQuestions(db: Db, server_uuid: string): Promise<TraceQuestion[]> {
  const { rows } = await db.query<{ question: TraceQuestion }>(
    "select question from network_trace where server_uuid = $1 and answer is null order by asked_at, id",
    [server_uuid],
  );
  return rows.map(({ question }) => question);
}

/** Stores a node's answer. Returns false if the question is not open or was for another node. */
export async function storeTraceAnswer(db: Db, server_uuid: string, answer: TraceAnswer): Promise<boolean> {
  const { rows } = await db.query(
    "update network_trace set answer = $3::jsonb where id = $1 and server_uuid = $2 and answer is null returning id",
    [answer.trace_id, server_uuid, JSON.stringify(answer)],
  );
  return rows.length === 1;
}

/** Finds the answers to questions, by the question's id. */
export async function findTraceAnswers(db: Db, ids: readonly string[]): Promise<Map<string, TraceAnswer>> {
  const { rows } = await db.query<{ id: string; answer: TraceAnswer }>(
    "select id, answer from network_trace where id = any($1::uuid[]) and answer is not null",
    [ids],
  );
  return new Map(rows.map(({ id, answer }) => [id, answer]));
}

/** Deletes a question whose request has ended, so that the node does not get it any more. */
export async function endTrace(db: Db, id: string): Promise<void> {
  await db.query("delete from network_trace where id = $1", [id]);
}

/** Deletes questions that are so old that no request waits for them. */
export async function pruneTraces(db: Db): Promise<void> {
  await db.query("delete from network_trace where asked_at < clock_timestamp() - make_interval(secs => $1)", [KEPT_S]);
}
