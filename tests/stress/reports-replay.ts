// Replays recorded reports: chosen at random, out of order, many at once, some with another node's key.
import { REPORT_KINDS, type ReportKind, type Sent, type Wire } from "./reports-record.ts";
import type { Taken } from "./reports-state.ts";

export type Tally = Taken & {
  /** The number of answers by kind and status. */
  readonly answers: ReadonlyMap<string, number>;
  readonly ways: Readonly<Record<Way, number>>;
  total(): number;
};
/** The key with which a replay was sent. */
export type Way = "as it was" | "by another node's key" | "by a key that is gone";

export type Replaying = {
  readonly wire: Wire;
  readonly random: () => number;
  /** The current keys of all nodes. */
  readonly keys: () => readonly string[];
  readonly tallies: readonly ReturnType<typeof newTally>[];
  readonly at_once: number;
  readonly except?: readonly ReportKind[];
};

/** Kinds that are never replayed with another node's key, because they would count as reports of that node. */
const OWN_OF_EACH: readonly ReportKind[] = ["heartbeat", "status", "capacity", "announce", "registration"];
const OTHER_KEY_SHARE = 0.2;
/** The share of replays that are chosen from the last RECENT reports of their kind: their jobs may be in progress. */
const RECENT_SHARE = 0.5;
const RECENT = 4;
/** The allowed statuses of answers to a replay. */
const STATUSES: readonly number[] = [200, 401, 403, 404, 409, 422];
/** Also allowed: the answer to a registration without proof whose node has the maximum number of claims. */
const TOO_MANY_CLAIMS = "registration 429";

export function newTally() {
  const answers = new Map<string, number>();
  const ways: Record<Way, number> = { "as it was": 0, "by another node's key": 0, "by a key that is gone": 0 };
  let total = 0;
  return {
    answers,
    ways,
    total: () => total,
    answered: (kind: ReportKind, status: number) => answers.get(`${kind} ${status}`) ?? 0,
    withStatus: (status: number) =>
      REPORT_KINDS.reduce((sum, kind) => sum + (answers.get(`${kind} ${status}`) ?? 0), 0),
    add: (kind: ReportKind, status: number, way: Way) => {
      const what = `${kind} ${status}`;
      answers.set(what, (answers.get(what) ?? 0) + 1);
      ways[way] += 1;
      total += 1;
    },
    /** Lists answers that a replay must not get. */
    odd: (): string[] =>
      [...answers].filter(([what]) => what !== TOO_MANY_CLAIMS && !STATUSES.includes(Number(what.split(" ").at(-1))))
        .map(([what, count]) => `unexpected answer to a replay: ${what}, ${count} times`),
  };
}

/** Replays `count` random reports. Every kind that has a recorded report is equally likely. */
export async function replay(count: number, replaying: Replaying): Promise<void> {
  let left = count;
  const work = async () => {
    while (left > 0) {
      left -= 1;
      await replayOne(replaying);
    }
  };
  await Promise.all(Array.from({ length: replaying.at_once }, work));
}

async function replayOne({ wire, random, keys: keysNow, tallies, except = [] }: Replaying): Promise<void> {
  const anyOf = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)];
  const keys = keysNow();
  const kind = anyOf(REPORT_KINDS.filter((each) => wire.sent[each].length > 0 && !except.includes(each)));
  const sent = kind && anyOf(random() < RECENT_SHARE ? wire.sent[kind].slice(-RECENT) : wire.sent[kind]);
  if (sent === undefined) return;
  const own = keyOf(sent);
  const other = anyOf(keys.filter((key) => key !== own));
  const is_foreign = random() < OTHER_KEY_SHARE && other !== undefined && !OWN_OF_EACH.includes(sent.kind);
  const status = await wire.send(is_foreign ? { ...sent, headers: under(sent, other) } : sent);
  const is_gone = sent.path.includes("/agent/") && own !== null && !keys.includes(own);
  const way = is_foreign ? "by another node's key" : is_gone ? "by a key that is gone" : "as it was";
  for (const tally of tallies) tally.add(sent.kind, status, way);
}

const keyOf = ({ headers }: Sent) => headers.get("authorization")?.replace(/^Bearer /, "") ?? null;

function under({ headers }: Sent, key: string): Headers {
  const changed = new Headers(headers);
  changed.set("authorization", `Bearer ${key}`);
  return changed;
}
