// Tests that an ended operation is kept as long as a repeated request needs it, even if saga.retention_secs is shorter
// (docs/wire.md, "Repeating a request").
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SAGA_RETENTION_S_MIN } from "../../src/contract/limits.ts";
import { okOf } from "../support/control-plane.ts";
import { maintainNow } from "../support/maintenance.ts";
import { type ComputeFixture, openComputeFixture } from "./compute-fixture.ts";

let a: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture();
});
afterAll(() => a.t.close());

test("an ended operation is kept for at least two days, and until its deletion a repeated request gets the first answer", async () => {
  const { id } = await a.running();
  const headers = { "idempotency-key": randomUUID() };
  const stop = (more = {}) => a.call("POST", `/v1/instances/${id}/stop`, { headers: { ...headers, ...more } });
  const first = await a.done(stop(), "stop");
  const operation = (await a.operation(id, "instance-lifecycle")).id;
  const endedAgo = (seconds: number) =>
    a.t.db.query("update saga set done_at = berth_now() - make_interval(secs => $2) where id = $1", [
      operation,
      seconds,
    ]);

  await endedAgo(SAGA_RETENTION_S_MIN - 60);
  await maintainNow(a.t.db, 3_600);
  expect(okOf(await stop({ prefer: "respond-async" }))).toMatchObject({ id: operation, state: "succeeded" });
  expect(okOf(await stop())).toEqual(first);

  await endedAgo(SAGA_RETENTION_S_MIN + 1);
  await maintainNow(a.t.db, 3_600);
  expect((await a.t.call("GET", `/v1/operations/${operation}`)).status).toBe(404);
});
