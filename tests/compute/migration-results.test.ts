// Nodes report numbers in the results of a migration's jobs. The list of an instance's migrations shows only valid
// numbers.
import { afterAll, beforeAll, expect, test } from "vitest";
import { okOf } from "../support/control-plane.ts";
import { addNode, type ComputeFixture, type Node, openComputeFixture } from "./compute-fixture.ts";

let a: ComputeFixture;
let target: Node;
beforeAll(async () => {
  a = await openComputeFixture();
  target = await addNode(a.t);
});
afterAll(() => a.t.close());

const cordon = async (cordoned: boolean) =>
  void okOf(await a.t.call("PATCH", `/v1/cns/${target.server_uuid}/placement`, { body: { cordoned } }));

test.each([
  ["numbers", 7, 12, [7, 12]],
  ["zeros", 0, 0, [0, 0]],
  ["text", "x", "12", [null, null]],
  ["fractions", 1.5, 12.5, [null, null]],
  ["negative numbers", -1, -1, [null, null]],
  ["objects", {}, [1], [null, null]],
])("if the jobs' results are %s, the list shows only valid numbers", async (_title, sent_bytes, downtime_ms, shown) => {
  await cordon(true);
  const { id } = await a.running();
  await cordon(false);
  okOf(await a.t.call("POST", `/v1/instances/${id}/migrate`, { body: { target_server_uuid: target.server_uuid } }));
  await target.does("migrate_receive");
  await a.node.complete(await a.node.take(), { sent_bytes });
  await target.complete(await target.take(), { downtime_ms });
  await a.node.does("migrate_clean");
  const [migration] = okOf(await a.t.call("GET", `/v1/instances/${id}/migrations`));
  expect(migration.state).toBe("completed");
  expect([migration.sent_bytes, migration.downtime_ms]).toEqual(shown);
});
