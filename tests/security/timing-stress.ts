// Whether time tells a code that has expired, or was used, from one that never was; and a key whose id is known from one
// whose id is not (reliability rules S-08 and S-09). Pairs of requests in turn, the slowest tenth of each kind dropped,
// Welch's t: below 4.5 nothing can be told. The statements test holds the cause (equal work), this one looks at the
// effect, which only a quiet machine shows.
//
//   deno run -A tests/security/timing-trial.ts [--pairs 2000] [--only expired]
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
const T_MAX = 4.5;
/** Failures of this many pairs stay below what a site may fail in an hour. */
const FORGIVEN_EVERY = 100;
/** Requests of each kind before the measurement; fewer than a site may fail in an hour. */
const WARMING = 50;
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
const plane = await openControlPlane({ config, databaseUrl: cluster.url, resident: false, show: () => {} });
const db = openPool({ url: cluster.url, connectionsMax: 1 });

type Sent = { readonly key?: string | null; readonly body?: unknown };

async function ask(method: string, path: string, { key = ROOT_KEY, body }: Sent = {}): Promise<string> {
  const headers = {
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const request = new Request(`http://berth.test${path}`, { method, headers, ...sent });
  return await (await plane.fetch(request, { remoteAddress: "192.0.2.10" })).text();
}

async function code(): Promise<string> {
  const body = { server_uuid: randomUUID(), hostname: "node-1", sysinfo: {} };
  return JSON.parse(await ask("POST", "/v1/agent/register", { key: null, body })).claim_code;
}

/** Milliseconds of each kind, in pairs, so that whatever slows the machine slows both. The order within a pair is random. */
async function measure(acts: readonly (() => Promise<unknown>)[]): Promise<number[][]> {
  const times: number[][] = acts.map(() => []);
  for (let pair = 0; pair < PAIRS; pair++) {
    if (pair % FORGIVEN_EVERY === 0) await db.query("delete from failure_count");
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
const approve = (text: string) => () => ask("POST", "/v1/cn-approvals", { body: { code: text } });
const whoami = (key: string) => () => ask("GET", "/v1/auth/whoami", { key });
const unknown = approve("000000");
// Many ids and a new secret every time: one text takes longer than another, whether it is known or not.
const KEYS = 100;
const known_ids: string[] = [];
for (let made = 0; made < KEYS; made++) {
  const { secret } = JSON.parse(await ask("POST", "/v1/auth/api-keys", { body: { description: "timing" } }));
  known_ids.push(parseApiKey(secret)!.lookup);
}
const unknown_ids = known_ids.map(() => randomBytes(9).toString("base64url"));
const keyAs = (ids: readonly string[]) => () =>
  whoami(`opsk_${ids[Math.floor(Math.random() * KEYS)]}_${randomBytes(24).toString("base64url")}`)();
const wrong = keyAs(known_ids);
const subjects = {
  "unknown beside unknown (the noise)": [unknown, unknown],
  "expired beside unknown": [approve(expired), unknown],
  "used beside unknown": [approve(used), unknown],
  "a key's wrong secret beside an unknown key": [wrong, keyAs(unknown_ids)],
};
let told = false;
try {
  for (const [name, acts] of Object.entries(subjects).filter(([name]) => name.includes(values.only))) {
    for (let warm = 0; warm < WARMING; warm++) for (const act of acts) await act();
    const t = Math.abs(welch(await measure(acts)));
    console.log(`${t < T_MAX ? "ok  " : "FAIL"} ${name}: |t| = ${t.toFixed(2)} of ${T_MAX} over ${PAIRS} pairs`);
    told ||= t >= T_MAX;
  }
} finally {
  await db.close();
  await plane.close();
  await cluster.remove();
}
process.exit(told ? 1 : 0);
