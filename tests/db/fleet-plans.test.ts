// Checks the plans of two queries of the whole fleet: the search for a name or an address, and the list of nodes that
// may run a NAT gateway. A plan may read a table completely once, but not once for each row of another table, because
// the number of rows to read would be the product of the sizes of both tables.
import { afterAll, beforeAll, expect, test } from "vitest";
import { listCandidates } from "../../src/db/nat-gateway-hosts.ts";
import type { Db } from "../../src/db/pool.ts";
import { createSearch } from "../../src/db/search.ts";
import { FILLED_LIMIT_MS as LIMIT_MS, type FilledDatabase, filledDatabase } from "../support/filled-database.ts";
import { explained, scansOf, tablesRead } from "../support/plans.ts";

/** The number of rows in most of the tables. PostgreSQL reads a small table completely even where an index exists. */
const ROWS = 3_000;

let filled: FilledDatabase;
let db: Db;
beforeAll(async () => {
  filled = await filledDatabase(FILL);
  db = filled.db;
}, LIMIT_MS);
afterAll(() => filled?.close());

const COMMON = "gen_random_uuid(), 1";
const FILL = [
  `create temp table made as select n, gen_random_uuid() as id, gen_random_uuid() as project_id,
     gen_random_uuid() as subnet_id, '10.0.0.0'::inet + n as address from generate_series(1, ${ROWS}) n`,
  `insert into instance (id, incarnation, version, state, tenant_id, project_id, name, description, brand, cpu,
     memory_bytes, image_id, primary_subnet_id, ssh_key_ids, created_at, updated_at)
   select id, ${COMMON}, 'stopped', project_id, project_id, 'vm-' || n, '', 'kvm', 1, 1048576, id, subnet_id, '{}',
     berth_now(), berth_now() from made`,
  `insert into nic (id, tenant_id, project_id, instance_id, vpc_id, subnet_id, ordinal, name, mac, primary_ipv4,
     created_at)
   select id, project_id, project_id, id, id, subnet_id, 0, 'net0',
     ('02:00:00:00:' || substr(lpad(to_hex(n), 4, '0'), 1, 2) || ':' || substr(lpad(to_hex(n), 4, '0'), 3, 2))::macaddr,
     address, berth_now() from made`,
  `insert into floating_ip (id, incarnation, version, state, tenant_id, project_id, name, description, address, family,
     pool_id, created_at, updated_at)
   select id, ${COMMON}, 'live', project_id, project_id, 'ip-' || n, '', address, 'v4', 'pool', berth_now(),
     berth_now() from made`,
  `insert into cn (server_uuid, incarnation, version, state, hostname, role, sysinfo, registered_at, bound_api_key_id)
   select id, ${COMMON}, 'approved', 'node-' || n, 'edge', '{}', berth_now(), id from made`,
  "insert into cn_signal (server_uuid, last_seen) select id, berth_now() from made",
  "insert into cn_placement (server_uuid) select id from made",
  `insert into cn_nic_tag (server_uuid, name, physical_nic, bridge)
   select id, case when n <= 20 then 'external' else 'other' end, 'eth0', 'br0' from made`,
  `insert into nat_gateway (id, incarnation, version, state, tenant_id, project_id, vpc_id, name, description, family,
     public_address, desired_generation, created_at, updated_at, host_cn_uuid)
   select id, ${COMMON}, 'live', project_id, project_id, id, 'gateway', '', 'v4', address, 1, berth_now(), berth_now(),
     id from made`,
  `insert into tenant (id, incarnation, version, state, silo_id, name, description, created_at)
   select id, ${COMMON}, 'live', id, 'tenant-' || n, '', berth_now() from made where n <= 20`,
];

test.each<[string, string, readonly string[]]>([
  ["a part of a name", "vm-17", ["floating_ip", "instance"]],
  ["an address", "10.0.1.7", ["floating_ip", "instance", "nic"]],
  ["the beginning of an address", "10.0.1.", ["floating_ip", "instance", "nic"]],
])(
  "the search for %s reads no table once for each row of another table",
  async (_what, q, reads) => {
    for (const tenant_id of [null, "11111111-1111-4111-8111-111111111111"]) {
      const { db: explaining, plans } = explained(db);
      await createSearch(explaining)({ q, limit: 20, tenant_id, kind: null });
      const { tables, again } = tablesRead(plans);
      expect(tables).toEqual(expect.arrayContaining([...reads]));
      expect(again).toEqual([]);
    }
  },
  LIMIT_MS,
);

test.each(
  [
    ["cn", ["cn", "enrolment_claim"]],
    ["instance", ["instance", "nic"]],
    ["floating_ip", ["floating_ip"]],
    ["vpc", ["vpc"]],
    ["project", ["project"]],
    ["tenant", ["silo", "tenant"]],
    ["silo", ["silo"]],
    ["operation", ["saga"]],
    ["job", ["job"]],
  ] as const,
)("the search for objects of the kind %s reads only their tables", async (kind, expected) => {
  // The text can be the beginning of an id or a part of an address. So only the kind can make the search leave out a
  // table.
  const { db: explaining, plans } = explained(db);
  await createSearch(explaining)({ q: "10", limit: 20, tenant_id: null, kind });
  const scans = plans.flatMap(scansOf).filter((scan) => scan["Actual Loops"] > 0);
  expect([...new Set(scans.map((scan) => scan["Relation Name"]))].sort()).toEqual(expected);
}, LIMIT_MS);

test("the check finds a plan that reads a whole table for each row", async () => {
  const { db: explaining, plans } = explained(db);
  await explaining.query(
    `select (select count(*) from nat_gateway g where g.name || n = 'x') from generate_series(1, 3) n`,
  );
  expect(tablesRead(plans).again).toEqual(["nat_gateway"]);
}, LIMIT_MS);

test("the list of nodes for NAT gateways counts each node's gateways by an index", async () => {
  const { db: explaining, plans } = explained(db);
  await listCandidates(explaining, 3_600, ["external"]);
  const gateways = plans.flatMap(scansOf).filter((scan) => scan["Relation Name"] === "nat_gateway");
  expect(gateways.map((scan) => [scan["Node Type"], scan["Actual Loops"]])).toEqual([["Index Only Scan", 20]]);
  expect(tablesRead(plans).again).toEqual([]);
}, LIMIT_MS);
