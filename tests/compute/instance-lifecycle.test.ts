// Tests how instances are started, stopped, restarted, reset, retried and deleted (docs/instances.md).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { JOB_LEASE_S } from "../../src/contract/limits.ts";
import { okOf } from "../support/control-plane.ts";
import { conflictWith, expectRefused, notFound } from "../network/public-addresses.ts";
import { type ComputeFixture, openComputeFixture } from "./compute-fixture.ts";

let a: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture();
});
afterAll(() => a.t.close());

const at = (id: string, verb = "") => `/v1/instances/${id}${verb === "" ? "" : `/${verb}`}`;
const post = (id: string, verb: string) => a.call("POST", at(id, verb));
const lifecycle = async (id: string) => (await a.show(id)).lifecycle;
const force = (id: string) => a.t.call("DELETE", `${at(id)}?force=true`);

describe("an instance", () => {
  test("shows the intermediate state of a stop, start or restart until its node finishes the job; a reset has no such state", async () => {
    const { id } = await a.running();
    for (
      const [verb, between, after] of [
        ["stop", "stopping", "stopped"],
        ["start", "pending", "running"],
        ["restart", "stopping", "running"],
        ["reset", "running", "running"],
      ] as const
    ) {
      const answer = post(id, verb);
      const job = await a.node.take();
      expect(job.kind).toEqual({ kind: verb, instance_id: id });
      expect(await lifecycle(id)).toEqual({ state: between });
      await a.node.complete(job);
      expect(okOf(await answer)).toMatchObject({ id, lifecycle: { state: after }, host_live: true });
      expect(await lifecycle(id)).toEqual({ state: after });
      expect(await a.operation(id, "instance-lifecycle")).toMatchObject({
        state: "succeeded",
        params: { action: verb },
        progress: { completed_steps: 3, total_steps: 3 },
      });
    }
    await a.destroy(id);
  });

  test("rejects actions that its state does not allow", async () => {
    const { id, name } = await a.running();
    conflictWith(await post(id, "start"), `${name} is already running`);
    conflictWith(await post(id, "retry"), `${name} is running; retry needs a failed instance`);
    conflictWith(
      await a.call("DELETE", at(id)),
      `instance ${id} is not deletable in state running; stop it first`,
    );
    await a.act(id, "stop", "stop");
    conflictWith(await post(id, "stop"), `${name} is already stopped`);
    conflictWith(await post(id, "restart"), `${name} is stopped; restart needs a running instance`);
    conflictWith(await post(id, "reset"), `${name} is stopped; reset needs a running instance`);
    conflictWith(
      await a.call("GET", at(id, "screenshot")),
      `${name} is stopped; a screenshot needs a running instance`,
    );
    await a.destroy(id);
    for (const verb of ["start", "stop", "restart", "reset", "retry"]) notFound(await post(id, verb));
    notFound(await a.call("DELETE", at(id)));
    notFound(await force(id));
  });

  test("runs one operation at a time", async () => {
    const { id } = await a.running();
    const answer = post(id, "stop");
    const job = await a.node.take();
    for (const verb of ["start", "stop", "restart"]) {
      expect((await post(id, verb)).body.message).toMatch(/ is stopping; /);
    }
    conflictWith(await a.call("DELETE", at(id)), `instance ${id} is not deletable in state stopping; stop it first`);
    await a.node.complete(job);
    okOf(await answer);
    const deletion = a.call("DELETE", at(id));
    const last = await a.node.take();
    const operation = (await a.operation(id, "instance-delete")).id;
    conflictWith(
      await post(id, "start"),
      `operation ${operation} (delete) still runs on instance ${id}; wait for it to end`,
    );
    await a.node.complete(last);
    expect((await deletion).status).toBe(204);
  });

  test.each(["start", "stop", "restart"] as const)(
    "fails if its node fails to %s, and can be retried",
    async (verb) => {
      const { id } = verb === "start" ? await a.stopped() : await a.running();
      const answer = post(id, verb);
      await a.node.fail(await a.node.take(), "the zone is stuck");
      expectRefused(await answer, 502, "OperationFailed", `${verb} failed: the zone is stuck`);
      expect(await lifecycle(id)).toEqual({ state: "failed", reason: "the zone is stuck" });
      expect(await a.operation(id, "instance-lifecycle")).toMatchObject({
        state: "unwound",
        error: "the zone is stuck",
      });
      expect(await a.act(id, "retry", "start")).toMatchObject({ lifecycle: { state: "running" } });
      await a.destroy(id);
    },
  );

  test("stays running if its reset fails, and refuses other operations during the reset", async () => {
    const { id } = await a.running();
    const answer = post(id, "reset");
    const job = await a.node.take();
    const operation = (await a.operation(id, "instance-lifecycle")).id;
    for (const verb of ["stop", "reset"]) {
      conflictWith(
        await post(id, verb),
        `operation ${operation} (reset) still runs on instance ${id}; wait for it to end`,
      );
    }
    await a.node.fail(job, "the machine does not run on its node");
    expectRefused(await answer, 502, "OperationFailed", "reset failed: the machine does not run on its node");
    expect(await lifecycle(id)).toEqual({ state: "running" });
    await a.destroy(id);
  });

  test("can be deleted after a failure", async () => {
    const { id } = await a.running();
    const answer = post(id, "stop");
    await a.node.fail(await a.node.take(), "no");
    expect((await answer).status).toBe(502);
    await a.done(a.call("DELETE", at(id)), "delete");
    notFound(await a.call("GET", at(id)));
  });

  test("keeps its state if its node does not claim the job in time; a failed instance then also keeps its reason", async () => {
    const { id } = await a.running();
    okOf(await a.t.call("PUT", "/v1/config/instance.create_wait_secs", { body: { value: 1 } }));
    const late = "step act got no report within its time limit";
    expectRefused(await post(id, "stop"), 502, "OperationFailed", `stop failed: ${late}`);
    expect(await lifecycle(id)).toEqual({ state: "running" });
    okOf(await a.t.call("DELETE", "/v1/config/instance.create_wait_secs"));
    const answer = post(id, "stop");
    await a.node.fail(await a.node.take(), "first");
    await answer;
    okOf(await a.t.call("PUT", "/v1/config/instance.create_wait_secs", { body: { value: 1 } }));
    expectRefused(await post(id, "retry"), 502, "OperationFailed", `retry failed: ${late}`);
    expect(await lifecycle(id)).toEqual({ state: "failed", reason: "first" });
    okOf(await a.t.call("DELETE", "/v1/config/instance.create_wait_secs"));
    await a.done(a.call("DELETE", at(id)), "delete");
  });

  test("fails if its node stops renewing the lease of the job, and the job is not repeated", async () => {
    const { id } = await a.running();
    const answer = post(id, "stop");
    const job = await a.node.take();
    // Extends the time limit of the operation, so that the lease of the job ends before the time limit.
    okOf(await a.t.call("PUT", "/v1/config/instance.create_wait_secs", { body: { value: 3_600 } }));
    await a.t.db.query(
      "update saga set due_at = due_at + interval '1 hour', wake_at = wake_at + interval '1 hour', " +
        "version = version + 1 where state = 'running'",
    );
    await a.t.advance(JOB_LEASE_S + 1);
    const reason = `node ${a.node.server_uuid} stopped renewing the job`;
    expectRefused(await answer, 502, "OperationFailed", `stop failed: ${reason}`);
    expect(await lifecycle(id)).toEqual({ state: "failed", reason });
    okOf(await a.t.call("DELETE", "/v1/config/instance.create_wait_secs"));
    await a.node.alive();
    await a.node.bury(job);
    expect((await a.node.ask()).job).toBeNull();
    await a.done(a.call("DELETE", at(id)), "delete");
  });

  test("stays stopped if its node fails to delete it", async () => {
    const { id } = await a.stopped();
    const answer = a.call("DELETE", at(id));
    await a.node.fail(await a.node.take(), "busy");
    expectRefused(await answer, 502, "OperationFailed", "delete failed: busy");
    expect(await lifecycle(id)).toEqual({ state: "stopped" });
    await a.destroy(id);
  });

  test.each(["start", "stop", "restart", "delete"] as const)("rejects %s while a migration is active", async (verb) => {
    const { id } = verb === "stop" || verb === "restart" ? await a.running() : await a.stopped();
    const migration = randomUUID();
    await a.t.db.query(
      "insert into migration (id, state, source_cn, target_cn, instance_id) values ($1, 'running', $1, $1, $2)",
      [migration, id],
    );
    const ask = () => verb === "delete" ? a.call("DELETE", at(id)) : post(id, verb);
    const message = `instance ${id} has an active migration ${migration}`;
    conflictWith(await ask(), message);
    conflictWith(await force(id), message);
    await a.t.db.query("update migration set state = 'completed' where id = $1", [migration]);
    await a.done(ask(), verb);
    if (verb !== "delete") await a.destroy(id);
  });

  test("stops once for two requests with the same Idempotency-Key, and both requests get the same answer", async () => {
    const { id } = await a.running();
    const headers = { "idempotency-key": randomUUID() };
    const stop = () => a.call("POST", at(id, "stop"), { headers });
    const first = await a.done(stop(), "stop");
    await a.act(id, "start", "start");
    expect((await stop()).body).toEqual(first);
    expect(await lifecycle(id)).toEqual({ state: "running" });
    await a.destroy(id);
  });

  test("stops after the answer if the request has Prefer: respond-async", async () => {
    const { id } = await a.running();
    const answer = await a.call("POST", at(id, "stop"), { headers: { prefer: "respond-async" } });
    expect([answer.status, answer.body.kind]).toEqual([202, "instance-lifecycle"]);
    await a.node.does("stop");
    await a.ended(id, "instance-lifecycle");
    const gone = await a.call("DELETE", at(id), { headers: { prefer: "respond-async" } });
    expect([gone.status, gone.body.kind]).toEqual([202, "instance-delete"]);
    await a.node.does("delete");
    await a.ended(id, "instance-delete");
    notFound(await a.call("GET", at(id)));
  });
});
