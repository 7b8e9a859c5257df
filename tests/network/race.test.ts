// 64 clients send requests to one server, or to two servers on one database, at the same time. Of the requests that
// exclude each other, exactly one succeeds. Requests that do not exclude each other all succeed.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "../../src/contract/common.ts";
import type { Route, RouteTable, Subnet, Vpc } from "../../src/contract/network.ts";
import { containsBlock, parseBlock } from "../../src/lib/net/ip-block.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { type Answer, must, request } from "../processes/client.ts";
import { type Pair, startPair } from "../processes/pair.ts";
import { type Side, steering } from "../processes/steering.ts";

const CLIENTS = 64;
const BUSY_RETRY_MS = 20;
const LIMIT_MS = 120_000;

let database: FreshDatabase;
let pair: Pair;
let projects: string;
let tenant_id: string;
let selectors: string;

beforeAll(async () => {
  database = await freshDatabase();
  pair = await startPair({ DATABASE_URL: database.url });
  const make = (path: string, name: string) =>
    must<{ id: string }>(pair.urls()[0]!, { method: "POST", path, body: { name } });
  const silo = await make("/v1/silos", "silo");
  const tenant = await make(`/v1/silos/${silo.id}/tenants`, "tenant");
  tenant_id = tenant.id;
  projects = `/v1/tenants/${tenant.id}/projects`;
  const project = await make(projects, "project");
  selectors = `?tenant=${tenant.id}&project=${project.id}`;
}, LIMIT_MS);

afterAll(async () => {
  await pair?.end();
  await database?.drop();
});

type Ask = { readonly method: "POST" | "PUT" | "DELETE"; readonly path: string; readonly body?: object };

/**
 * Repeats the request while the server is busy (503) or does not answer. The Idempotency-Key makes repeats harmless.
 */
async function outcome(url: string, ask: Ask): Promise<Answer> {
  const idempotency_key = crypto.randomUUID();
  for (;;) {
    const answer = await request(url, { ...ask, idempotency_key });
    if (answer.status !== null && answer.status !== 503) return answer;
    await new Promise((wake) => setTimeout(wake, BUSY_RETRY_MS));
  }
}

const read = <T>(path: string) => must<T>(pair.urls()[0]!, { method: "GET", path });
const made = <T>(path: string, body: object) => must<T>(pair.urls()[0]!, { method: "POST", path, body });

let names = 0;
const fresh = () => `n-${names += 1}`;
const vpc = () => made<Vpc>(`/v1/vpcs${selectors}`, { name: fresh(), ipv4_block: "10.0.0.0/8" });

/** Returns the number of responses by status. */
function tally(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status!] = (counts[status!] ?? 0) + 1;
  return counts;
}

describe.each([["one server", 1], ["two servers", 2]] as const)("at %s", (_where, servers) => {
  /** Sends one request per client, to the servers in turn. */
  const all = (asks: readonly Ask[]) =>
    Promise.all(asks.map((ask, client) => outcome(pair.urls()[client % servers]!, ask)));
  const race = (ask: (client: number) => Ask) => all(Array.from({ length: CLIENTS }, (_, client) => ask(client)));
  const post = (path: string, body: object): Ask => ({ method: "POST", path, body });

  test("64 VPCs with different names are all created, each with its own VNI", async () => {
    const answers = await race(() => post(`/v1/vpcs${selectors}`, { name: fresh(), ipv4_block: "10.0.0.0/8" }));
    expect(tally(answers)).toEqual({ 201: CLIENTS });
    expect(new Set(answers.map(({ body }) => (body as Vpc).vni)).size).toBe(CLIENTS);
  }, LIMIT_MS);

  test("64 requests with one name create one VPC", async () => {
    const name = fresh();
    const answers = await race(() => post(`/v1/vpcs${selectors}`, { name, ipv4_block: "10.0.0.0/8" }));
    expect(tally(answers)).toEqual({ 201: 1, 409: CLIENTS - 1 });
  }, LIMIT_MS);

  test("64 requests with one block create one subnet, and every 409 names this subnet", async () => {
    const { id } = await vpc();
    const answers = await race(() => post(`/v1/subnets?vpc=${id}`, { name: fresh(), ipv4_block: "10.1.0.0/16" }));
    expect(tally(answers)).toEqual({ 201: 1, 409: CLIENTS - 1 });
    const winner = answers.find(({ status }) => status === 201)!.body as Subnet;
    const refusals = new Set(
      answers.filter(({ status }) => status === 409).map(({ body }) => (body as { message: string }).message),
    );
    expect([...refusals]).toEqual([
      `10.1.0.0/16 overlaps 10.1.0.0/16 of subnet ${winner.name} (${winner.id}) in the same vpc`,
    ]);
  }, LIMIT_MS);

  test("64 requests for 16 groups of overlapping blocks create 16 subnets", async () => {
    const { id } = await vpc();
    // Four blocks. Each block overlaps the three other blocks.
    const blocks = (
      place: number,
    ) => [`10.${place}.0.0/16`, `10.${place}.0.0/17`, `10.${place}.0.0/20`, `10.${place}.1.0/24`];
    const answers = await race((client) => {
      const ipv4_block = blocks(client >> 2)[client & 3];
      return post(`/v1/subnets?vpc=${id}`, { name: fresh(), ipv4_block });
    });
    expect(tally(answers)).toEqual({ 201: CLIENTS / 4, 409: CLIENTS * 3 / 4 });
    const { items } = await read<Page<Subnet>>(`/v1/subnets?vpc=${id}`);
    const kept = items.map(({ ipv4_block }) => parseBlock(ipv4_block!)!);
    expect(kept).toHaveLength(CLIENTS / 4);
    // Of two networks that share an address, one contains the other.
    const clashes = kept.flatMap((a, i) => kept.filter((b, j) => i !== j && containsBlock(a, b)));
    expect(clashes).toEqual([]);
  }, LIMIT_MS);

  test("64 subnets that do not overlap are all created", async () => {
    const { id } = await vpc();
    const answers = await race((client) =>
      post(`/v1/subnets?vpc=${id}`, { name: fresh(), ipv4_block: `10.${client}.0.0/16` })
    );
    expect(tally(answers)).toEqual({ 201: CLIENTS });
  }, LIMIT_MS);

  test("64 requests with one name in one VPC create one record: subnets, route tables, firewall rules", async () => {
    const { id } = await vpc();
    const name = fresh();
    const rule = { name, action: "allow", direction: "inbound", priority: 1 };
    const asks = [
      await race((client) => post(`/v1/subnets?vpc=${id}`, { name, ipv4_block: `10.${client}.0.0/16` })),
      await race(() => post(`/v1/route-tables?vpc=${id}`, { name })),
      await race(() => post(`/v1/firewall-rules?vpc=${id}`, rule)),
    ];
    for (const answers of asks) expect(tally(answers)).toEqual({ 201: 1, 409: CLIENTS - 1 });
  }, LIMIT_MS);

  test("64 requests with one destination, written in 64 ways, create one route", async () => {
    const { main_route_table_id } = await vpc();
    const answers = await race((client) =>
      post(`/v1/routes?route_table=${main_route_table_id}`, {
        name: fresh(),
        destination: `192.0.2.${client}/24`,
        target: { kind: "reject" },
      })
    );
    expect(tally(answers)).toEqual({ 201: 1, 409: CLIENTS - 1 });
    const { items } = await read<Page<Route>>(`/v1/routes?route_table=${main_route_table_id}`);
    expect(items.map(({ destination }) => destination)).toEqual(["192.0.2.0/24"]);
  }, LIMIT_MS);

  test(
    "when a VPC is deleted while 63 clients add to it, either everything is deleted or all records are kept",
    async () => {
      const { id } = await vpc();
      const answers = await race((client) => {
        if (client === CLIENTS / 2) return { method: "DELETE", path: `/v1/vpcs/${id}` };
        return client % 2 === 0
          ? post(`/v1/subnets?vpc=${id}`, { name: fresh(), ipv4_block: `10.${client}.0.0/16` })
          : post(`/v1/route-tables?vpc=${id}`, { name: fresh() });
      });
      const [deletion] = answers.splice(CLIENTS / 2, 1);
      if (deletion!.status === 204) {
        expect(tally(answers)).toEqual({ 404: CLIENTS - 1 });
        expect((await request(pair.urls()[0]!, { method: "GET", path: `/v1/vpcs/${id}` })).status).toBe(404);
      } else {
        expect(deletion!.status).toBe(409);
        expect(tally(answers)).toEqual({ 201: CLIENTS - 1 });
      }
    },
    LIMIT_MS,
  );

  test(
    "when a route table is deleted while 63 clients add routes, either the table is deleted or all routes are kept",
    async () => {
      const { id } = await vpc();
      const table = await made<RouteTable>(`/v1/route-tables?vpc=${id}`, { name: fresh() });
      const answers = await race((client) =>
        client === 0 ? { method: "DELETE", path: `/v1/route-tables/${table.id}` } : post(
          `/v1/routes?route_table=${table.id}`,
          { name: fresh(), destination: `10.${client}.0.0/16`, target: { kind: "blackhole" } },
        )
      );
      const [deletion, ...creates] = answers;
      expect(tally(creates)).toEqual(deletion!.status === 204 ? { 404: CLIENTS - 1 } : { 201: CLIENTS - 1 });
      expect([204, 409]).toContain(deletion!.status);
    },
    LIMIT_MS,
  );
});

/**
 * One server deletes the parent at the path `remove`. The other server gets the request `add`, which adds to this
 * parent and gets the status `added` if it succeeds.
 */
type Contest = { readonly remove: string; readonly add: Ask; readonly added: number };

const CONTESTS: Readonly<Record<string, () => Promise<Contest>>> = {
  "a project and a VPC in it": async () => {
    const { id } = await made<{ id: string }>(projects, { name: fresh() });
    const path = `/v1/vpcs?tenant=${tenant_id}&project=${id}`;
    const body = { name: fresh(), ipv4_block: "10.0.0.0/8" };
    return { remove: `${projects}/${id}`, add: { method: "POST", path, body }, added: 201 };
  },
  "a VPC and a subnet in it": async () => {
    const { id } = await vpc();
    const body = { name: fresh(), ipv4_block: "10.1.0.0/16" };
    return { remove: `/v1/vpcs/${id}`, add: { method: "POST", path: `/v1/subnets?vpc=${id}`, body }, added: 201 };
  },
  "a route table and a route in it": async () => {
    const { id } = await made<RouteTable>(`/v1/route-tables?vpc=${(await vpc()).id}`, { name: fresh() });
    const body = { name: fresh(), destination: "0.0.0.0/0", target: { kind: "blackhole" } };
    const path = `/v1/routes?route_table=${id}`;
    return { remove: `/v1/route-tables/${id}`, add: { method: "POST", path, body }, added: 201 };
  },
  "a route table and a subnet that switches to it": async () => {
    const { id } = await vpc();
    const subnet = await made<Subnet>(`/v1/subnets?vpc=${id}`, { name: fresh(), ipv4_block: "10.1.0.0/16" });
    const table = await made<RouteTable>(`/v1/route-tables?vpc=${id}`, { name: fresh() });
    const path = `/v1/subnets/${subnet.id}/route-table`;
    const add = { method: "PUT", path, body: { route_table_id: table.id } } as const;
    return { remove: `/v1/route-tables/${table.id}`, add, added: 200 };
  },
};

describe("a delete at one server and a request that needs the deleted object at the other", () => {
  const WINS = 3;

  test.each(Object.keys(CONTESTS))("of %s: the first request succeeds, and the other is refused", async (what) => {
    const steer = steering();
    const wins: Record<Side, number> = { first: 0, second: 0 };
    while (Math.min(wins.first, wins.second) < WINS) {
      const { remove, add, added } = await CONTESTS[what]!();
      const [removal, addition] = await Promise.all([
        steer.hold("first").then(() => outcome(pair.urls()[0]!, { method: "DELETE", path: remove })),
        steer.hold("second").then(() => outcome(pair.urls()[1]!, add)),
      ]);
      const winner = removal.status === 204 ? "first" : "second";
      expect([removal.status, addition.status]).toEqual(winner === "first" ? [204, 404] : [409, added]);
      steer.won(winner);
      wins[winner] += 1;
    }
  }, LIMIT_MS);
});
