// Many clients of two servers request the last addresses of a pool at the same time. Each address is allocated once;
// the other requests get 409.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Db, openPool } from "../../src/db/pool.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { type Answer, must, request } from "../processes/client.ts";
import { type Pair, startPair } from "../processes/pair.ts";

const CLIENTS = 64;
const FREE = 40;
const ROUNDS = 3;

let database: FreshDatabase;
let pair: Pair;
let db: Db;
let at: { readonly gateways: string; readonly floatingIps: string };
let network: string;
/** Two pools with the same two networks in opposite order. */
let pools: readonly string[];

beforeAll(async () => {
  database = await freshDatabase();
  pair = await startPair({ DATABASE_URL: database.url });
  db = openPool({ url: database.url, applicationName: "checks" });
  const make = (path: string, body: object) =>
    must<{ id: string }>(pair.urls()[0]!, { method: "POST", path, body: { name: "race", ...body } });
  const silo = await make("/v1/silos", {});
  const tenant = await make(`/v1/silos/${silo.id}/tenants`, {});
  const project = await make(`/v1/tenants/${tenant.id}/projects`, {});
  const selectors = `?tenant=${tenant.id}&project=${project.id}`;
  const vpc = await make(`/v1/vpcs${selectors}`, { ipv4_block: "10.0.0.0/16" });
  await make("/v1/system/nic-tags", { mtu: 1_500 });
  const subnet = { nic_tag: "race", ipv4_block: "203.0.113.0/24", provision_start_ipv4: "203.0.113.240" };
  network = (await make("/v1/system/external-subnets", subnet)).id;
  const blocks = ["198.51.100.0/28", "198.51.100.16/28"];
  const [one = "", two = ""] = await Promise.all(
    blocks.map(async (ipv4_block, n) =>
      (await make("/v1/system/external-subnets", { nic_tag: "race", ipv4_block, name: `race-${n}` })).id
    ),
  );
  pools = await Promise.all(
    [[one, two], [two, one]].map(async (networks, n) =>
      (await make("/v1/system/network-pools", { networks, name: `race-${n}` })).id
    ),
  );
  at = { gateways: `/v1/nat-gateways?vpc=${vpc.id}`, floatingIps: `/v1/floating-ips${selectors}` };
  // Leaves the addresses .215 to .254 free. The last 15 of them are the provision range of the subnet.
  await db.query("update pool_range set low = 255 - $1::int where pool_id = 'public:v4'", [FREE]);
});

afterAll(async () => {
  await pair?.end();
  await db?.close();
  await database?.drop();
});

/**
 * Sends this client's request to one of the servers: for a NAT gateway, or for a floating IP by family or by network.
 */
function take(client: number): Promise<Answer> {
  const urls = pair.urls();
  const source = client % 3 === 0 ? {} : client % 3 === 1 ? { family: "v4" } : { network_id: network };
  return request(urls[client % urls.length]!, {
    method: "POST",
    path: client % 3 === 0 ? at.gateways : at.floatingIps,
    body: { name: randomUUID(), ...source },
  });
}

/** Deletes the gateway or floating IP at one of the servers, which need not be the server that created it. */
async function giveBack(client: number, { id, address }: { readonly id: string; readonly address?: string }) {
  const urls = pair.urls();
  const noun = address === undefined ? "nat-gateways" : "floating-ips";
  return await request(urls[(client + 1) % urls.length]!, { method: "DELETE", path: `/v1/${noun}/${id}` });
}

const clients = <T>(work: (client: number) => Promise<T>) =>
  Promise.all(Array.from({ length: CLIENTS }, (_, client) => work(client)));

async function taken(): Promise<string[]> {
  const { rows } = await db.query<{ address: string }>(
    "select host(address) as address from public_address where address << '203.0.113.0/24' order by address",
  );
  return rows.map(({ address }) => address);
}

/** Returns the free offsets of the pool in order. An offset that is free twice appears twice. */
async function free(): Promise<number[]> {
  const { rows } = await db.query<{ n: number }>(
    "select generate_series(low, high)::int as n from pool_range where pool_id = 'public:v4' order by n",
  );
  return rows.map(({ n }) => n);
}

const addressOf = ({ body }: Answer) => {
  const made = body as { address?: string; public_address?: string };
  return made.address ?? made.public_address ?? "";
};

function expectOnly(answers: readonly Answer[], statuses: readonly number[]): void {
  const others = answers.filter(({ status }) => !statuses.includes(status ?? 0));
  expect(others, pair.log()).toEqual([]);
  for (const { body } of answers.filter(({ status }) => status === 409)) {
    expect(body).toMatchObject({ error_code: "PoolExhausted" });
  }
}

test(
  "64 clients of two servers request 40 addresses: each address is allocated once, and the other requests get 409",
  async () => {
    const answers = (await clients(async (client) => [await take(client), await take(client + 1)])).flat();
    expectOnly(answers, [201, 409]);
    const given = answers.filter(({ status }) => status === 201).map(addressOf);
    expect(new Set(given).size).toBe(FREE);
    expect(given.length).toBe(FREE);
    expect(given.sort()).toEqual(Array.from({ length: FREE }, (_, n) => `203.0.113.${255 - FREE + n}`));
    expect(await taken()).toEqual(given);
    expect(await free()).toEqual([]);
    expect(answers.length - given.length).toBe(2 * CLIENTS - FREE);
  },
  240_000,
);

test(
  "two pools with the same networks in opposite order allocate all their 26 addresses, and no address twice",
  async () => {
    const answers = await clients((client) =>
      request(pair.urls()[client % 2]!, {
        method: "POST",
        path: at.floatingIps,
        body: { name: randomUUID(), pool_id: pools[(client >> 1) % 2] },
      })
    );
    expectOnly(answers, [201, 409]);
    const given = answers.filter(({ status }) => status === 201).map(addressOf).sort();
    const hosts = [0, 16].flatMap((first) => Array.from({ length: 13 }, (_, n) => `198.51.100.${first + n + 2}`));
    expect(given).toEqual(hosts.sort());
  },
  240_000,
);

test("addresses that are released under contention are never allocated twice and never lost", async () => {
  const held = (await db.query<{ id: string; address?: string }>(
    `select id, null as address from nat_gateway
      union all select id, host(address) from floating_ip where pool_id = 'public:v4'`,
  )).rows.map(({ id, address }) => ({ id, ...(address && { address }) }));
  const answers = await clients(async (client) => {
    const heard: Answer[] = [];
    let mine = held[client];
    for (let round = 0; round < ROUNDS; round++) {
      if (mine !== undefined) heard.push(await giveBack(client, mine));
      const answer = await take(client + round);
      heard.push(answer);
      mine = answer.status === 201 ? answer.body as { id: string; address?: string } : undefined;
    }
    return heard;
  });
  expectOnly(answers.flat(), [201, 204, 409]);
  const offsets = (await taken()).map((address) => Number(address.split(".").at(-1)));
  const all = [...offsets, ...await free()].sort((one, two) => one - two);
  expect(all).toEqual(Array.from({ length: FREE }, (_, n) => 255 - FREE + n));
  const { rows } = await db.query(
    `select host(p.address) from public_address p
       left join nat_gateway n on n.id = p.nat_gateway_id and n.public_address = p.address
       left join floating_ip f on f.id = p.floating_ip_id and f.address = p.address
      where n.id is null and f.id is null`,
  );
  expect(rows).toEqual([]);
}, 240_000);
