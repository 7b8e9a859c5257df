// Tests a node that sends false claims: it learns nothing about other VPCs, and nothing changes for other nodes. Also
// tests that a node cannot get another node's underlay address.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Realized } from "../../src/contract/network.ts";
import { okOf } from "../support/control-plane.ts";
import { type NetworkFixture, openNetworkFixture } from "./network-fixture.ts";

/** A generation that the VPC does not reach in these tests. */
const FAR_GENERATION = 1_000_000;

let f: NetworkFixture;
beforeAll(async () => {
  f = await openNetworkFixture();
});
afterAll(() => f.t.close());

const realized = async (): Promise<Realized> => okOf(await f.call("GET", `/v1/vpcs/${f.vpc.id}`)).realized;

test("a node that claims documents of VPCs that it does not host is only asked to remove them", async () => {
  const { vpc: foreign } = await f.otherTenant();
  const have = { [f.vpc.id]: 0, [foreign.id]: 0, [crypto.randomUUID()]: 0 };
  const answer = await f.poll(f.idle, { have });
  expect(answer.vpcs).toEqual([]);
  expect(answer.nodes).toEqual([]);
  expect(answer.gone.toSorted()).toEqual(Object.keys(have).toSorted());
  expect(await f.offered(f.idle)).toEqual([]);
});

test("a node that claims a generation that does not exist yet does not count as up to date", async () => {
  await f.apply(f.two);
  const generation = (await f.stored(f.one))[f.vpc.id]!;
  const answer = await f.poll(f.one, { have: { [f.vpc.id]: FAR_GENERATION } });
  expect(answer.vpcs).toEqual([]);
  expect((await f.tryReport(f.one, f.vpc.id, { generation: FAR_GENERATION })).status).toBe(409);
  expect((await realized()).applied_generation).toBeNull();
  // The node gets the document when its poll names the generation that it really stores.
  expect((await f.poll(f.one, { have: { [f.vpc.id]: generation - 1 } })).vpcs).toMatchObject([{ generation }]);
});

test("a report of a node about a VPC that it does not host changes nothing", async () => {
  const before = await realized();
  for (const status of ["accepted", "applied", "failed"]) {
    const answer = await f.tryReport(f.idle, f.vpc.id, {
      generation: before.desired_generation,
      status,
      message: "lie",
    });
    expect(answer.status, status).toBe(404);
  }
  expect(await realized()).toEqual(before);
});

test("an operator cannot give a node the underlay address of another node", async () => {
  const taken = await f.t.call("PATCH", `/v1/cns/${f.idle.server_uuid}/underlay`, {
    body: { underlay_address: f.one.underlay_address },
  });
  expect(taken.status).toBe(409);
  const answer = await f.poll(f.two);
  expect(answer.nodes).toEqual([f.one.underlay_address]);
});
