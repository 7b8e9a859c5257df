// Tests that a repeated request to migrate an instance gets the first answer (docs/wire.md, "Repeating a request").
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { okOf } from "../support/control-plane.ts";
import { addNode, type ComputeFixture, type Node, openComputeFixture } from "./compute-fixture.ts";

let a: ComputeFixture;
let target: Node;
beforeAll(async () => {
  a = await openComputeFixture();
  target = await addNode(a.t);
  await cordon(target, true);
});
afterAll(() => a.t.close());

const cordon = async ({ server_uuid }: Node, cordoned: boolean) =>
  void okOf(await a.t.call("PATCH", `/v1/cns/${server_uuid}/placement`, { body: { cordoned } }));

test.each([
  ["no node can take it", false, () => Promise.resolve()],
  ["the named node cannot take it", true, () => Promise.resolve()],
  ["the instance was deleted", false, (id: string) => a.destroy(id)],
])("a repeated request to migrate an instance gets the first answer when %s", async (_what, is_named, end) => {
  const { id } = await a.running();
  await cordon(target, false);
  const body = is_named ? { target_server_uuid: target.server_uuid } : {};
  const headers = { "idempotency-key": randomUUID() };
  const migrate = () => a.t.call("POST", `/v1/instances/${id}/migrate`, { body, headers });
  const first = await migrate();
  okOf(first);
  await target.fail(await target.take(), "the pool is full");
  await a.ended(id, "instance-migrate");
  await cordon(target, true);
  await end(id);
  const again = await migrate();
  expect([again.status, again.body]).toEqual([201, first.body]);
});
