// Checks that response time does not reveal whether a code is expired, used or unknown, or whether a key's id exists
// (docs/reliability.md S-08 and S-09). The program sends pairs of requests in turn, drops the slowest tenth of each
// kind, and computes Welch's t. Below 4.5 there is no detectable difference. The program needs a quiet machine.
// statements.test.ts checks on any machine that the work is equal.
//
//   deno run -A tests/security/timing-stress.ts [--pairs 2000] [--only expired]
import { randomBytes, randomUUID } from "node:crypto";
import process from "node:process";
import { parseArgs } from "node:util";
import { readConfig } from "../../src/config.ts";
import { parseApiKey } from "../../src/lib/ids/api-key.ts";
import { openPool } from "../../src/db/pool.ts";
import { openControlPlane } from "../../src/wiring.ts";
import { ownCluster } from "../support/cluster.ts";

const { values } = parseArgs({
  options: { pairs: { type: "string", default: "2000" }, only: { type: "string", default: "" } },
});
const PAIRS = Number(values.pairs);
/** With fewer pairs, too little is left to compare after the slowest tenth has been dropped. */
const PAIRS_MIN = 10;
if (!Number.isSafeInteger(PAIRS) || PAIRS < PAIRS_MIN) throw new Error(`--pairs must be at least ${PAIRS_MIN}`);
const T_MAX = 4.5;
/** After this number of pairs the program deletes the failure count, which must stay below a site's hourly limit. */
const RESET_EVERY = 100;
/** Warm-up requests of each kind; fewer than a site's hourly limit of failures. */
const WARM_UP = 50;
const ROOT_KEY = "opsk_rootrootroot_0123456789abcdef0123456789abcdef";

const cluster = await ownCluster({ fsync: "off", synchronous_commit: "off" });
const env = {
  BERTH_ROOT_KEY: ROOT_KEY,
  BERTH_SECRET_KEY: "5e".repeat(32),
  BERTH_LAB: "1",
  BERTH_APPROVE_PER_MINUTE: "1000000",
  BERTH_REGISTER_PER_MINUTE: "1000000",
  BERTH_LIMITS_CALLER_REQUESTS_PER_MINUTE: "1000000000",
  BERTH_LIMITS_CALLER_WRITES_PER_MINUTE: "1000000000",
};
const config = readConfig(env);
const controlPlane = await openControlPlane({ config, databaseUrl: cluster.url, resident: false, show: () => {} });
const db = openPool({ url: cluster.url, connectionsMax: 1 });

type Sent = { readonly key?: string | null; readonly body?: unknown; readonly refused?: number };

/**
 * Returns the body of the answer. Throws unless the answer has the status `refused` (default: a success). So the
 * program does not measure other answers, such as refusals by a rate limit.
 */
async function ask(method: string, path: string, { key = ROOT_KEY, body, refused }: Sent = {}): Promise<string> {
  const headers = {
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const request = new Request(`http://berth.test${path}`, { method, headers, ...sent });
  const answer = await controlPlane.fetch(request, { remoteAddress: "192.0.2.10" });
  const text = await answer.text();
  if (refused === undefined ? !answer.ok : answer.status !== refused) {
    throw new Error(`${method} ${path} got ${answer.status}: ${text}`);
  }
  return text;
}

async function code(): Promise<string> {
  const body = { server_uuid: randomUUID(), hostname: "node-1", sysinfo: {} };
  return JSON.parse(await ask("POST", "/v1/agent/register", { key: null, body })).claim_code;
}

/** Measures both kinds in pairs, in random order, so that load on the machine affects both. Returns milliseconds. */
async function measure(acts: readonly (() => Promise<unknown>)[]): Promise<number[][]> {
  const times: number[][] = acts.map(() => []);
  for (let pair = 0; pair < PAIRS; pair++) {
    if (pair % RESET_EVERY === 0) await db.query("delete from failure_count");
    for (const at of Math.random() < 0.5 ? [0, 1] : [1, 0]) {
      const start = performance.now();
      await acts[at]!();
      times[at]!.push(performance.now() - start);
    }
  }
  return times.map((each) => each.sort((a, b) => a - b).slice(0, Math.floor(each.length * 0.9)));
}

function welch([a = [], b = []]: readonly number[][]): number {
  const mean = (each: readonly number[]) => each.reduce((sum, value) => sum + value, 0) / each.length;
  const spread = (each: readonly number[]) => {
    const middle = mean(each);
    return each.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (each.length - 1) / each.length;
  };
  return (mean(a) - mean(b)) / Math.sqrt(spread(a) + spread(b));
}

const [used, expired] = [await code(), await code()];
await ask("POST", "/v1/cn-approvals", { body: { code: used } });
await ask("POST", "/lab/clock", { key: null, body: { seconds: 3_600 } });
const approve = (text: string) => () => ask("POST", "/v1/cn-approvals", { body: { code: text }, refused: 404 });
const whoami = (key: string) => () => ask("GET", "/v1/auth/whoami", { key, refused: 401 });
const unknown = approve("000000");
// Each request has one of many ids and a new secret. Two fixed texts would differ in time even if neither id existed.
const KEYS = 100;
const known_ids: string[] = [];
for (let made = 0; made < KEYS; made++) {
  const { secret } = JSON.parse(await ask("POST", "/v1/auth/api-keys", { body: { description: "timing" } }));
  known_ids.push(parseApiKey(secret)!.lookup);
}
const unknown_ids = known_ids.map(() => randomBytes(9).toString("base64url"));
const keyAs = (ids: readonly string[]) => () =>
  whoami(`opsk_${ids[Math.floor(Math.random() * KEYS)]}_${randomBytes(24).toString("base64url")}`)();
const subjects = {
  "unknown against unknown (the noise)": [unknown, unknown],
  "expired against unknown": [approve(expired), unknown],
  "used against unknown": [approve(used), unknown],
  "a key's wrong secret against an unknown key": [keyAs(known_ids), keyAs(unknown_ids)],
};
const wanted = Object.entries(subjects).filter(([name]) => name.includes(values.only));
let detected = false;
try {
  if (wanted.length === 0) {
    throw new Error(`--only ${values.only} is in no name of: ${Object.keys(subjects).join("; ")}`);
  }
  for (const [name, acts] of wanted) {
    for (let warm = 0; warm < WARM_UP; warm++) for (const act of acts) await act();
    const t = Math.abs(welch(await measure(acts)));
    console.log(`${t < T_MAX ? "ok  " : "FAIL"} ${name}: |t| = ${t.toFixed(2)} of ${T_MAX} over ${PAIRS} pairs`);
    detected ||= !(t < T_MAX);
  }
} finally {
  await db.close();
  await controlPlane.close();
  await cluster.remove();
}
process.exit(detected ? 1 : 0);
