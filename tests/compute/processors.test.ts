// The server gives an instance at most as many vCPUs as its node has logical processors, even if the node's
// overprovisioning has room (docs/instances.md, "Placement"). If the node later has fewer processors, the instance
// keeps working, but gets no further vCPU.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PlacementExplanation } from "../../src/contract/placement.ts";
import { conflictWith } from "../network/public-addresses.ts";
import { okOf } from "../support/control-plane.ts";
import { addNode, type ComputeFixture, GIB, openComputeFixture } from "./compute-fixture.ts";

let a: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture();
});
afterAll(() => a.t.close());

const patch = (id: string, body: object) => a.call("PATCH", `/v1/instances/${id}`, { body });

test("no node takes an instance with one vCPU more than the node has processors", async () => {
  await a.node.alive({ cpu_threads_logical: 16 });
  const { status, body: refused } = await a.create({ cpu: 17 });
  expect([status, refused.message]).toEqual([503, expect.stringMatching(/^no eligible compute node for placement/)]);
  const body = { cpu: 17, memory_bytes: GIB };
  const explained: PlacementExplanation = okOf(await a.t.call("POST", "/v1/system/placement/explain", { body }));
  expect(explained.per_cn[0]?.filter_results.filter(({ verdict }) => verdict === "reject")).toEqual([
    { filter_name: "cn-cpu-available", verdict: "reject", reason: "it has 16 processors, 17 wanted" },
  ]);
  await a.destroy((await a.running({ cpu: 16 })).id);
});

test("an instance with more vCPUs than processors starts, stops and shrinks, but neither grows nor moves", async () => {
  await a.node.alive({ cpu_threads_logical: 16 });
  const { id } = await a.running({ cpu: 16 });
  await a.node.alive({ cpu_threads_logical: 8 });
  await a.act(id, "stop", "stop");
  await a.act(id, "start", "start");
  await a.act(id, "stop", "stop");
  okOf(await patch(id, { memory_bytes: 5 * GIB }));
  okOf(await patch(id, { cpu: 14 }));
  conflictWith(
    await patch(id, { cpu: 15 }),
    `the node of instance ${id} has no room for the requested size: it has 8 processors, and cpu would be 15`,
  );
  const small = await addNode(a.t, { cpu_threads_logical: 1 });
  const target = { target_server_uuid: small.server_uuid };
  conflictWith(
    await a.t.call("POST", `/v1/instances/${id}/migrate`, { body: target }),
    `node ${small.server_uuid} cannot take the instance: it has 1 processor, 14 wanted`,
  );
  okOf(await patch(id, { cpu: 2 }));
  okOf(await patch(id, { cpu: 8 }));
  await a.destroy(id);
});
