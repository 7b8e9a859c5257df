// Tests a migration that deletes counters of firewall rules. It deletes the counters of nodes that left the rule's VPC
// before the upgrade.
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import { type Connection, openClient } from "../../src/db/pool.ts";
import type { FreshDatabase } from "../support/database.ts";
import { type PlanNode, tablesRead } from "../support/plans.ts";
import { databaseOfMigration } from "./release-0-1-0.ts";

const MIGRATION = "0095_counts_of_left_nodes.sql";
const LIMIT_MS = 120_000;

/** The nodes, by their relation to VPC 1. Each node has counters of the VPC's rule and of the VPC's NAT gateway. */
const NODES = { hosts: 1, receives: 2, gateway: 3, stores: 4, left: 5, other: 6 };
const id = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`;

let database: FreshDatabase;
let client: Connection;
beforeAll(async () => {
  database = await databaseOfMigration(Number(MIGRATION.slice(0, 4)) - 1);
  client = await openClient({ url: database.url, statementLimit_ms: LIMIT_MS });
}, LIMIT_MS);
afterAll(async () => {
  await client?.end();
  await database?.drop();
});

const COMMON = (n: number, state: string) => `'${id(n)}', '${id(n)}', 1, '${state}'`;
const TENANT = `'${id(1)}', '${id(1)}'`;

/** Inserts an instance with a NIC in a VPC, on a node. */
const instance = (n: number, vpc: number, node: number) => [
  `insert into instance (id, incarnation, version, state, tenant_id, project_id, name, description, brand, cpu,
     memory_bytes, image_id, primary_subnet_id, ssh_key_ids, created_at, updated_at, host_cn_uuid)
   values (${COMMON(n, "running")}, ${TENANT}, 'vm-${n}', '', 'kvm', 1, 1048576, '${id(1)}', '${id(1)}', '{}',
     berth_now(), berth_now(), '${id(node)}')`,
  `insert into nic (id, tenant_id, project_id, instance_id, vpc_id, subnet_id, ordinal, name, mac, primary_ipv4, created_at)
   values ('${id(n)}', ${TENANT}, '${id(n)}', '${id(vpc)}', '${
    id(1)
  }', 0, 'net0', '02:00:00:00:00:0${n}', '10.0.0.${n}',
     berth_now())`,
];
const rule = (n: number, vpc: number) =>
  `insert into firewall_rule (id, incarnation, version, state, tenant_id, project_id, vpc_id, name, description, priority,
     direction, action, protocol, created_at)
   values (${COMMON(n, "live")}, ${TENANT}, '${
    id(vpc)
  }', 'rule-${n}', '', ${n}, 'inbound', 'allow', 'any', berth_now())`;

test(
  "the upgrade deletes the counters of firewall rules of nodes that left the VPC, and keeps all other counters",
  async () => {
    const rows = [
      rule(1, 1),
      rule(2, 2),
      ...instance(1, 1, NODES.hosts),
      ...instance(2, 1, NODES.hosts),
      ...instance(3, 2, NODES.other),
      `insert into migration (id, state, source_cn, target_cn, instance_id)
     values ('${id(1)}', 'sending', '${id(NODES.hosts)}', '${id(NODES.receives)}', '${id(2)}'),
            ('${id(2)}', 'completed', '${id(NODES.left)}', '${id(NODES.left)}', '${id(2)}')`,
      `insert into nat_gateway (id, incarnation, version, state, tenant_id, project_id, vpc_id, name, description, family,
       public_address, desired_generation, created_at, updated_at, host_cn_uuid)
     values (${COMMON(1, "live")}, ${TENANT}, '${id(1)}', 'nat', '', 'v4', '198.51.100.9', 1, berth_now(), berth_now(),
       '${id(NODES.gateway)}')`,
      `insert into vpc_realization (vpc_id, server_uuid) values ('${id(1)}', '${id(NODES.stores)}')`,
      ...Object.values(NODES).flatMap((node) => [
        `insert into firewall_rule_count values ('${id(1)}', '${id(node)}', 1, 1, berth_now())`,
        `insert into nat_gateway_count values ('${id(1)}', '${id(node)}', 1, berth_now())`,
      ]),
      `insert into firewall_rule_count values ('${id(2)}', '${id(NODES.other)}', 1, 1, berth_now())`,
    ];
    // Disables foreign keys and triggers, because the rows refer to rows that do not exist.
    await client.query(`set session_replication_role = replica; ${rows.join("; ")}`);
    const nodesOf = async (table: string, column: string, n: number) => {
      const { rows } = await client.query(`select server_uuid from ${table} where ${column} = $1`, [id(n)]);
      const names = Object.fromEntries(Object.entries(NODES).map(([name, node]) => [id(node), name]));
      return rows.map(({ server_uuid }) => names[server_uuid]).sort();
    };

    await migrate(database.url);
    expect(await nodesOf("firewall_rule_count", "rule_id", 1)).toEqual(["gateway", "hosts", "receives", "stores"]);
    expect(await nodesOf("firewall_rule_count", "rule_id", 2)).toEqual(["other"]);
    expect(await nodesOf("nat_gateway_count", "nat_gateway_id", 1)).toEqual(Object.keys(NODES).sort());
  },
  LIMIT_MS,
);

test("the upgrade reads no table once for each counter", async () => {
  const sql = await readFile(new URL(`../../migrations/${MIGRATION}`, import.meta.url), "utf8");
  const columns = async (table: string, changed: Readonly<Record<string, string>>) => {
    const { rows } = await client.query<{ name: string }>(
      "select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped",
      [table],
    );
    return rows.map(({ name }) => changed[name] ?? name).join(", ");
  };
  const copies = async (table: string, changed: Readonly<Record<string, string>>) =>
    `insert into ${table} select ${await columns(table, changed)} from (select * from ${table} limit 1) as one,
       generate_series(10, 3000) as n`;
  const made = "md5(n::text)::uuid";
  await client.query(
    [
      await copies("firewall_rule", { id: made, vpc_id: made }),
      await copies("firewall_rule_count", { rule_id: made, server_uuid: made }),
      await copies("vpc_realization", { vpc_id: made, server_uuid: `md5((n + 1500)::text)::uuid` }),
      await copies("instance", { id: made, name: "'vm-' || n", host_cn_uuid: made }),
    ].join("; ") + "; analyze",
  );
  const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
    `explain (analyze, timing off, format json) ${sql}`,
  );
  const plan = rows[0]!["QUERY PLAN"][0].Plan;
  expect(tablesRead([plan])).toMatchObject({ tables: expect.arrayContaining(["firewall_rule_count"]), again: [] });
}, LIMIT_MS);
