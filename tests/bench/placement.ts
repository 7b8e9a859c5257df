// Measures the cost of one placement for different numbers of nodes: the query, the parsing of its rows, and the
// choice. Run: `deno run -A tests/bench/placement.ts`, with --sizes=20,1000,10000.
import { randomUUID } from "node:crypto";
import process from "node:process";
import { parseArgs } from "node:util";
import { PLACEMENT_PROFILES_DEFAULT } from "../../src/contract/placement-profiles.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openClient, openPool } from "../../src/db/pool.ts";
import { pick } from "../../src/lib/placement/pick.ts";
import { activeProfile } from "../../src/lib/placement/profile.ts";
import type { PlacementRequest } from "../../src/lib/placement/request.ts";
import { nodesToPlace, snapshotOf } from "../../src/services/placement-snapshot.ts";
import { databaseUrl } from "../support/database-url.ts";
import { ownCluster } from "../support/cluster.ts";
import { capacityFor } from "./creates-site.ts";
import { median } from "./report.ts";
import { seedNodes } from "./subjects.ts";

const RUNS = 15;
const WARMING_RUNS = 6;
/** The number of tenants that each node has in cn_tenant_usage. */
const TENANTS_OF_NODE = 5;
const TENANTS = 1_000;
const SLOTS = 100;

const { values } = parseArgs({ options: { sizes: { type: "string", default: "20,1000,10000" } } });
const REQUEST: PlacementRequest = {
  cpu_units: 200,
  ram_mb: 512,
  disk_bytes: 2 ** 30,
  role: "tenant",
  brand: "kvm",
  min_platform: null,
  tenant_id: randomUUID(),
  silo_id: randomUUID(),
  instance_id: randomUUID(),
  avoid_cn: [],
};

const cluster = await ownCluster({ autovacuum: "off" });
try {
  for (const nodes of values.sizes.split(",").map(Number)) await measure(nodes);
} finally {
  await cluster.remove();
}
process.exit(0); // Ends the process now, because the database driver keeps idle sockets open for a while.

/** Fills a database with approved and live nodes. Each node has a capacity report and instances of some tenants. */
async function filled(nodes: number): Promise<string> {
  const admin = await openClient({ url: cluster.url });
  await admin.query(`create database placement_${nodes}`);
  await admin.end();
  const url = databaseUrl(cluster.url, `placement_${nodes}`);
  await migrate(url);
  const owner = await openClient({ url });
  // Turns off foreign keys, because the rows refer to API keys and to a default tenant that do not exist.
  await owner.query("set session_replication_role = replica");
  const ids = await seedNodes(owner, nodes);
  await owner.query(
    "update cn set state = 'approved', approved_at = berth_now(), bound_api_key_id = gen_random_uuid(), claim_code = null, " +
      "claim_code_expires_at = null, poll_token_sha256 = null",
  );
  await owner.query(
    "insert into cn_signal (server_uuid, last_seen) select id, berth_now() from unnest($1::uuid[]) id",
    [
      ids,
    ],
  );
  await owner.query(
    "insert into cn_capacity (server_uuid, report, reported_at) select id, $2, berth_now() from unnest($1::uuid[]) id",
    [ids, JSON.stringify(capacityFor(SLOTS))],
  );
  await owner.query(
    "insert into cn_usage select id, 1000, 8192, 100000000000, 20 from unnest($1::uuid[]) id",
    [ids],
  );
  await owner.query(
    `with s as (insert into silo (id, incarnation, version, state, name, description, default_tenant_id, created_at)
                values (gen_random_uuid(), gen_random_uuid(), 1, 'live', 'silo', '', gen_random_uuid(), berth_now()) returning id)
     insert into tenant (id, incarnation, version, state, silo_id, name, description, created_at)
     select gen_random_uuid(), gen_random_uuid(), 1, 'live', s.id, 'tenant-' || n, '', berth_now()
       from s, generate_series(1, $1) n`,
    [TENANTS],
  );
  await owner.query(
    `insert into cn_tenant_usage (server_uuid, tenant_id, instances)
     select c.id, t.id, 4 from unnest($1::uuid[]) with ordinality c(id, n)
       join (select id, row_number() over () as n from tenant) t on (t.n + c.n) % ($2::int / $3::int) = 0`,
    [ids, TENANTS, TENANTS_OF_NODE],
  );
  await owner.query("analyze");
  await owner.end();
  return url;
}

async function measure(nodes: number): Promise<void> {
  const db = openPool({ url: await filled(nodes), role: "berth_app", connectionsMax: 1 });
  const times: Record<"query" | "snapshot" | "pick", number[]> = { query: [], snapshot: [], pick: [] };
  const profile = activeProfile(PLACEMENT_PROFILES_DEFAULT);
  for (let run = -WARMING_RUNS; run < RUNS; run++) {
    const started = performance.now();
    const rows = await nodesToPlace(db.kysely);
    const read = performance.now();
    const snapshot = snapshotOf(rows, 0);
    const parsed = performance.now();
    const { candidates } = pick(REQUEST, snapshot, profile);
    const picked = performance.now();
    if (candidates.length === 0 || snapshot.nodes.length !== nodes) {
      throw new Error("placement found no node for the instance");
    }
    if (run < 0) continue;
    times.query.push(read - started);
    times.snapshot.push(parsed - read);
    times.pick.push(picked - parsed);
  }
  await db.close();
  const ms = (list: number[]) => `${(median(list) ?? NaN).toFixed(1)} ms`;
  console.log(`${nodes} nodes: query ${ms(times.query)}, snapshot ${ms(times.snapshot)}, pick ${ms(times.pick)}`);
}
