// One server creates an instance while another server removes the only node with room. The removal is a factory reset,
// or a disable and a remove (docs/nodes.md, "Leaving"). One side wins, and the other side has no effect. Exception: if
// the create wins, a node that was disabled stays disabled.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { acceptedBodies, capacity } from "../api/bodies.ts";
import { type InstanceFixture, openInstanceFixture } from "../compute/instance-fixture.ts";
import { type Answer, type CallOptions, okOf } from "../support/control-plane.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { changedRows, type Dump } from "../support/dump.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { ROOT_KEY } from "../support/server-process.ts";
import { type Pair, startPair } from "./pair.ts";
import { type Side, steering } from "./steering.ts";

const INSTANCES = "instances are still placed on this node; delete or migrate them first";
const NO_NODE =
  "no eligible compute node for placement; capacity, traits, affinity, or scope pinning rejected every candidate";
/** The number of rounds that each side must win. steering.ts makes each side win some rounds. */
const WINS = 3;
const ROUNDS_MAX = 80;
/** The tables with rows of an instance and of the capacity that it uses. */
const ESTATE = [
  "instance",
  "nic",
  "disk",
  "sealed_user_data",
  "pool_range",
  "project_usage",
  "placement_reservation",
];

let database: FreshDatabase;
let pair: Pair;
let db: Db;
let g: InstanceFixture;

beforeAll(async () => {
  database = await freshDatabase();
  pair = await startPair({ DATABASE_URL: database.url });
  db = openPool({ url: database.url, connectionsMax: 2, applicationName: "checks" });
  g = await openInstanceFixture({ call: callAt(0) }, {
    url: "https://images.example/linux",
    sha256: "ab".repeat(32),
    size_bytes: 2 ** 30,
  });
  for (const route of ["PUT /v2/platform-images", "PUT /v2/cn-boot-policy"]) {
    const [method = "", path = ""] = route.split(" ");
    okOf(await callAt(0)(method, path, { body: acceptedBodies[route]?.() }));
  }
}, 120_000);
afterAll(async () => {
  await pair?.end();
  await db?.close();
  await database?.drop();
});

function callAt(server: 0 | 1) {
  return async (method: string, path: string, { key, body, headers }: CallOptions = {}): Promise<Answer> => {
    const response = await fetch(pair.urls()[server]! + path, {
      method,
      headers: {
        authorization: `Bearer ${key ?? ROOT_KEY}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers as Record<string, string>,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    const body_of = text === "" ? undefined : JSON.parse(text);
    return { status: response.status, headers: response.headers, text, body: body_of };
  };
}

/** Creates an approved node with room for one instance. The node counts as live for the whole test. */
async function oneSlot(): Promise<string> {
  const call = callAt(0);
  const server_uuid = randomUUID();
  const body = { server_uuid, hostname: "n", sysinfo: {} };
  const { claim_code, poll_token } = okOf(await call("POST", "/v1/agent/register", { body }));
  okOf(await call("POST", "/v1/cn-approvals", { body: { code: claim_code } }));
  const { api_key } = okOf(await call("GET", `/v1/agent/register/status?poll_token=${poll_token}`));
  const report = { ...capacity(), ram_total_mb: 1_024 };
  okOf(await call("POST", "/v1/agent/capacity", { key: api_key, body: report }));
  okOf(await call("POST", "/v1/agent/heartbeat", { key: api_key }));
  await db.query("update cn_signal set last_seen = berth_now() + interval '1 hour' where server_uuid = $1", [
    server_uuid,
  ]);
  return server_uuid;
}

/** Creates an instance. Does not wait until it runs, because the node does no jobs. */
function create(): Promise<Answer> {
  const body = {
    name: randomUUID(),
    image_id: g.image_id,
    primary_subnet_id: g.subnet_id,
    cpu: 1,
    memory_bytes: 2 ** 30,
    user_data: "#cloud-config",
  };
  const options = { key: g.key, body, headers: { prefer: "respond-async" } };
  return callAt(0)("POST", `/v1/instances${g.selectors}`, options);
}

async function estate(): Promise<Dump> {
  const each = ESTATE.map((table) => `select '${table}' as name, row_to_json(t)::text as row from ${table} t`);
  const { rows } = await db.query<{ name: string; row: string }>(each.join(" union all "));
  return new Map(ESTATE.map((table) => [table, rows.filter(({ name }) => name === table).map(({ row }) => row)]));
}

const count = async (sql: string, node: string) => (await db.query(sql, [node])).rowCount;

/** Returns the number of instance rows with this node, and the node's usage counters. */
async function placed(node: string) {
  const { rows } = await db.query("select instances, ram_mb from cn_usage where server_uuid = $1", [node]);
  return { placed: await count("select from instance where host_cn_uuid = $1", node), ...rows[0] };
}

const operations = async (node: string) =>
  await count("select from saga where saga = 'instance-create' and params->>'host_cn_uuid' = $1::text", node);

type End = {
  readonly name: string;
  /** Sends to the second server the requests that reset or remove the node. Returns the last reply. */
  readonly end: (node: string) => Promise<Answer>;
  readonly done: number;
  /** The node's state after a round in which the create succeeded. */
  readonly left: string;
};

const ENDS: readonly End[] = [
  {
    name: "a factory reset",
    end: (node) => callAt(1)("POST", `/v1/cns/${node}/factory-reset`),
    done: 200,
    left: "approved",
  },
  {
    name: "disable and remove",
    end: async (node) => {
      okOf(await callAt(1)("POST", `/v1/cns/${node}/disable`));
      return await callAt(1)("DELETE", `/v1/cns/${node}`);
    },
    done: 204,
    left: "disabled",
  },
];

test.each(ENDS)(
  "if a create and $name run at the same time, exactly one of the two succeeds, and each of the two succeeds in some rounds",
  async ({
    end,
    done,
    left,
  }) => {
    const race = steering();
    const wins: Record<Side, number> = { first: 0, second: 0 };
    for (let round = 0; round < ROUNDS_MAX && (wins.first < WINS || wins.second < WINS); round += 1) {
      const node = await oneSlot();
      const before = await estate();
      const [created, ended] = await Promise.all([
        race.hold("first").then(create),
        race.hold("second").then(() => end(node)),
      ]);
      const state = async () =>
        (await db.query<{ state: string }>("select state from cn where server_uuid = $1", [node])).rows[0]?.state;
      if (created.status === 202) {
        expect(ended).toMatchObject({ status: 409, body: { message: INSTANCES } });
        expect(await state()).toBe(left);
        expect(await placed(node)).toEqual({ placed: 1, instances: 1, ram_mb: 1_024 });
        expect(await operations(node)).toBe(1);
        const instance = created.body.references.find(({ scope }: { scope: string }) => scope === "instance").id;
        okOf(await callAt(1)("DELETE", `/v1/instances/${instance}?force=true`));
        expect(changedRows(before, await estate())).toEqual([]);
        expect(await placed(node)).toEqual({ placed: 0, instances: 0, ram_mb: 0 });
        // No instance is on the node any more, so the requests that reset or remove the node succeed.
        expect((await end(node)).status).toBe(done);
      } else {
        expect(created).toMatchObject({ status: 503, body: { message: NO_NODE } });
        expect(ended.status).toBe(done);
        expect(changedRows(before, await estate())).toEqual([]);
        expect(await placed(node)).toMatchObject({ placed: 0 });
        expect(await operations(node)).toBe(0);
        const counted =
          "select from cn_usage where server_uuid = $1 and (instances, cpu_units, ram_mb, disk_bytes) <> (0, 0, 0, 0)";
        expect(await count(counted, node)).toBe(0);
      }
      const winner = created.status === 202 ? "first" : "second";
      wins[winner] += 1;
      race.won(winner);
    }
    expect(Math.min(wins.first, wins.second), "one side always won: there was no race").toBeGreaterThanOrEqual(WINS);
  },
  120_000,
);
