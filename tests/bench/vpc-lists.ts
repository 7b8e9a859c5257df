// Measures how fast a process finds which generation each node of one large VPC has applied. Each list of the VPC's
// parts needs this information. A process remembers the nodes of a VPC (actors/realization/reads.ts). The yardstick in
// the same run is a process without remembered nodes, which reads all NICs of the VPC. Single run: `deno run -A
// tests/bench/vpc-lists.ts`.
import process from "node:process";
import { findRealized } from "../../actors/realization/reads.ts";
import { REALIZATIONS_IN_LIST_MAX } from "../../src/contract/limits.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { ownCluster } from "../support/cluster.ts";
import { benchDatabase } from "./bench-database.ts";
import { median } from "./report.ts";

const VPC_ID = "11111111-1111-4111-8111-111111111111";
const GENERATION = 7;
const NODES = 10_000;
const NICS = 100_000;
const FIRST_VNI = 100_000;
const READS = 30;
const STATEMENT_LIMIT_MS = 300_000;
/** The loads: the number of nodes that have not applied the newest generation. */
const PENDING = [0, 1, 199] as const;

const MAC = "'02:00:00' || regexp_replace(lpad(to_hex(n), 6, '0'), '(..)', ':\\1', 'g')";
const FILL = [
  `create temp table node as select n, gen_random_uuid() as id from generate_series(1, ${NODES}) n`,
  `create temp table made as
     select g.n, gen_random_uuid() as id, gen_random_uuid() as project_id, gen_random_uuid() as subnet_id,
            '10.0.0.0'::inet + g.n as address, node.id as host
       from generate_series(1, ${NICS}) g(n) join node on node.n = 1 + g.n % ${NODES}`,
  `insert into vpc (id, incarnation, version, state, tenant_id, project_id, main_route_table_id, name, description, vni,
     ipv4_block, created_at)
   values ('${VPC_ID}', gen_random_uuid(), 1, 'live', '${VPC_ID}', '${VPC_ID}', '${VPC_ID}', 'large', '', ${FIRST_VNI},
     '10.0.0.0/8', berth_now())`,
  `insert into vpc_generation values ('${VPC_ID}', ${GENERATION})`,
  `insert into instance (id, incarnation, version, state, tenant_id, project_id, name, description, brand, cpu,
     memory_bytes, image_id, primary_subnet_id, ssh_key_ids, created_at, updated_at, host_cn_uuid)
   select id, gen_random_uuid(), 1, 'running', project_id, project_id, 'vm-' || n, '', 'kvm', 1, 1048576, id, subnet_id,
     '{}', berth_now(), berth_now(), host from made`,
  `insert into nic (id, tenant_id, project_id, instance_id, vpc_id, subnet_id, ordinal, name, mac, primary_ipv4,
     created_at)
   select id, project_id, project_id, id, '${VPC_ID}', subnet_id, 0, 'net0', (${MAC})::macaddr, address, berth_now()
     from made`,
  `insert into vpc_realization (vpc_id, server_uuid, generation, status, applied_generation, reported_at)
   select '${VPC_ID}', id, ${GENERATION}, 'applied', ${GENERATION}, berth_now() from node`,
];

/** Returns the median time of some reads. The first read is left out. */
async function timeReads(read: () => Promise<unknown>): Promise<number> {
  const times_ms: number[] = [];
  for (let index = 0; index < READS; index++) {
    const start_ms = performance.now();
    await read();
    times_ms.push(performance.now() - start_ms);
  }
  return median(times_ms.slice(1)) ?? NaN;
}

async function measure(db: Db): Promise<void> {
  // Disables foreign keys and triggers, because the filled rows refer to rows that do not exist.
  await db.query(`set session_replication_role = replica; ${FILL.join("; ")}; analyze`);
  const read = (kysely: Db["kysely"]) => findRealized(kysely, [VPC_ID], REALIZATIONS_IN_LIST_MAX);
  // The remembered nodes belong to a Kysely object, so a new object has none.
  const all_ms = await timeReads(() => read(db.kysely.withoutPlugins()));
  console.log(`all NICs           ${all_ms.toFixed(1)} ms`);
  for (const pending of PENDING) {
    await db.query(
      `update vpc_realization set generation = ${GENERATION - 1}, applied_generation = ${GENERATION - 1}
        where server_uuid in (select id from node where n <= ${pending})`,
    );
    await db.query("vacuum analyze vpc_realization");
    const known_ms = await timeReads(() => read(db.kysely));
    console.log(
      `${String(pending).padEnd(4)} nodes pending ${known_ms.toFixed(1)} ms, ratio ${(known_ms / all_ms).toFixed(3)}`,
    );
  }
}

const cluster = await ownCluster();
try {
  const url = await benchDatabase(cluster.url, "bench_vpc_lists");
  const db = openPool({ url, connectionsMax: 1, statementLimit_ms: STATEMENT_LIMIT_MS });
  try {
    await measure(db);
  } finally {
    await db.close();
  }
} finally {
  await cluster.remove();
}
// Ends the process now, because the database driver keeps idle sockets open for a while.
process.exit(0);
