// Concurrent create requests through two processes on one database use every slot, and use no slot, address, name or
// MAC twice (docs/reliability.md, INV-7).
import { afterAll, beforeAll, expect, test } from "vitest";
import { brokenInvariants } from "../doctor/broken.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { addNode, type ComputeFixture, GIB, type Node, openComputeFixture } from "./compute-fixture.ts";

let a: ComputeFixture;
let second: TestControlPlane;
const nodes: Node[] = [];
const SLOTS_PER_NODE = 5;
/** 20 GiB of memory are enough for five instances of 4 GiB. */
const SMALL = { ram_total_mb: 20 * 1_024 };

beforeAll(async () => {
  a = await openComputeFixture();
  second = await openTestControlPlane({ databaseUrl: a.t.databaseUrl });
  await a.node.alive(SMALL);
  nodes.push(a.node, await addNode(a.t, SMALL), await addNode(a.t, SMALL));
});
afterAll(async () => {
  await second.close();
  await a.t.close();
});

/** Completes every job of the node until `stop.wanted` is true. */
async function work(node: Node, stop: { readonly wanted: boolean }): Promise<void> {
  while (!stop.wanted) {
    const { job } = await node.ask();
    if (job !== null) await node.complete(job);
    else await new Promise((wake) => setTimeout(wake, 20));
  }
}

test("of 20 create requests through two processes on three nodes with 15 slots, 15 succeed and 5 get 503", async () => {
  const stop = { wanted: false };
  const agents = nodes.map((node) => work(node, stop));
  const planes = [a.t, second];
  const answers = await Promise.all(
    Array.from(
      { length: 20 },
      (_, n) => planes[n % 2]!.call("POST", `/v1/instances${a.selectors}`, { key: a.tenant.key, body: a.bodyOf() }),
    ),
  );
  const made = answers.filter(({ status }) => status === 201);
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(15).fill(201), ...Array(5).fill(503)]);
  const { rows } = await a.t.db.query("select instances, ram_mb from cn_usage order by instances");
  expect(rows).toEqual(nodes.map(() => ({ instances: SLOTS_PER_NODE, ram_mb: SLOTS_PER_NODE * 4_096 })));
  const nics = okOf(await a.call("GET", `/v1/nics?subnet=${a.subnet.id}`)).items;
  for (const key of ["mac", "primary_ipv4", "primary_ipv6"]) {
    expect(new Set(nics.map((nic: Record<string, string>) => nic[key])).size).toBe(15);
  }
  // The lowest addresses are reserved without a gap, so the rejected requests reserved no address.
  expect(
    nics.map((nic: { primary_ipv4: string }) => Number(nic.primary_ipv4.split(".")[3])).sort(
      (x: number, y: number) => x - y,
    ),
  ).toEqual(Array.from({ length: 15 }, (_, n) => n + 2));

  const operator = await Promise.all(made.map(({ body }) => a.t.call("DELETE", `/v1/instances/${body.id}?force=true`)));
  expect(new Set(operator.map(({ status }) => status))).toEqual(new Set([204]));
  const left = await a.t.db.query(
    "select sum(instances) as n, sum(ram_mb) as ram, sum(disk_bytes) as disk from cn_usage",
  );
  expect(Object.values(left.rows[0]!).map(Number)).toEqual([0, 0, 0]);
  stop.wanted = true;
  await Promise.all(agents);
});

test("exactly one of several concurrent create requests with the same name or MAC succeeds; the other requests get 409", async () => {
  const stop = { wanted: false };
  const agents = nodes.map((node) => work(node, stop));
  for (const fields of [{ name: "the-one" }, { mac: "02:00:00:00:0a:01" }]) {
    const answers = await Promise.all(Array.from({ length: 6 }, () => a.create({ memory_bytes: GIB, ...fields })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(5).fill(409)]);
    const made = answers.find(({ status }) => status === 201)!.body;
    expect((await a.t.call("DELETE", `/v1/instances/${made.id}?force=true`)).status).toBe(204);
  }
  stop.wanted = true;
  await Promise.all(agents);
});

test("every invariant holds after the races", async () => {
  expect(await brokenInvariants(a.t.db)).toEqual([]);
});
