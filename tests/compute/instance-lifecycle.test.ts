// Starting, stopping, restarting, retrying, deleting and force-deleting instances, resizing disks, and nodes' status
// reports. docs/instances.md.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Disk } from "../../src/contract/instance.ts";
import { JOB_LEASE_S } from "../../src/contract/limits.ts";
import { addUser } from "../api/user.ts";
import { okOf } from "../support/control-plane.ts";
import { conflictWith, expectRefused, makeFloatingIp, notFound } from "../network/public-addresses.ts";
import { type ComputeFixture, GIB, openComputeFixture } from "./compute-fixture.ts";

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
  test("stops, starts and restarts through the intermediate states as its node finishes each job", async () => {
    const { id } = await a.running();
    for (
      const [verb, between, after] of [
        ["stop", "stopping", "stopped"],
        ["start", "pending", "running"],
        ["restart", "stopping", "running"],
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
    await a.destroy(id);
    for (const verb of ["start", "stop", "restart", "retry"]) notFound(await post(id, verb));
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

  test("can be deleted after a failure", async () => {
    const { id } = await a.running();
    const answer = post(id, "stop");
    await a.node.fail(await a.node.take(), "no");
    expect((await answer).status).toBe(502);
    await a.done(a.call("DELETE", at(id)), "delete");
    notFound(await a.call("GET", at(id)));
  });

  test("keeps its state if its node does not claim the job in time; a failed retry keeps the first reason", async () => {
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

  test("fails if its node stops renewing the job, and the job is not repeated", async () => {
    const { id } = await a.running();
    const answer = post(id, "stop");
    const job = await a.node.take();
    // Extends the operation's limit, so that the job's lease ends first.
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

  test("stays stopped if its node fails the delete", async () => {
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

  test("stops once for two requests with one Idempotency-Key, and both get the same answer", async () => {
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

describe("a force delete", () => {
  test("is allowed for operators only, and a denial is audited", async () => {
    const { id } = await a.running();
    const refused = await a.call("DELETE", `${at(id)}?force=true`);
    expectRefused(refused, 403, "Forbidden", "force delete is operator-only");
    const { events } = okOf(await a.t.call("GET", "/v1/audit/events?limit=1000"));
    expect(events.findLast((each: { decision: string }) => each.decision === "deny")).toMatchObject({
      action: "instance_delete",
      resource: `Instance::"${id}"`,
    });
    expect((await a.call("DELETE", `${at(id)}?force=false`)).status).toBe(409);
    const operator = await addUser(a.t.db, randomUUID());
    await a.t.db.query("update user_account set capabilities = array['system-operate'] where id = $1", [operator.id]);
    notFound(await a.t.call("DELETE", at(id), { key: operator.key }));
    expect((await a.t.call("DELETE", `${at(id)}?force=true`, { key: operator.key })).status).toBe(204);
    await a.node.does("delete");
  });

  test("releases a running instance at once and sends its node a delete job without waiting", async () => {
    const before = await a.dump();
    const { id } = await a.running();
    expect((await force(id)).status).toBe(204);
    notFound(await a.call("GET", at(id)));
    expect(await a.left(before)).toEqual([]);
    const job = await a.node.take();
    expect(job.kind).toEqual({ kind: "delete", instance_id: id });
    expect((await a.ended(id, "instance-delete")).state).toBe("succeeded");
    await a.node.complete(job);
  });

  test("ends a create on a dead node, and the caller of the create gets the reason", async () => {
    const before = await a.dump();
    const answer = a.create();
    const job = await a.node.take();
    const id = String(job.kind["instance_id"]);
    expect((await force(id)).status).toBe(204);
    const { status, body } = await answer;
    expect([status, body.error_code]).toEqual([502, "ProvisionFailed"]);
    expect(body.message).toMatch(/^provisioning failed: abandoned by an operator/);
    expect((await a.ended(id, "instance-create")).state).toBe("unwound");
    expect(await a.left(before)).toEqual([]);
    await a.node.bury(job);
    await a.node.does("delete");
  });

  test("ends a rolled-back create that waits until its node has undone the job", async () => {
    const before = await a.dump();
    okOf(await a.t.call("PUT", "/v1/config/instance.create_wait_secs", { body: { value: 1 } }));
    const answer = a.create();
    const job = await a.node.take();
    const id = String(job.kind["instance_id"]);
    expect((await answer).status).toBe(502);
    okOf(await a.t.call("DELETE", "/v1/config/instance.create_wait_secs"));
    expect((await a.operation(id, "instance-create")).state).toBe("unwinding");
    expect((await force(id)).status).toBe(204);
    expect((await a.ended(id, "instance-create")).state).toBe("unwound");
    expect(await a.left(before)).toEqual([]);
    await a.node.bury(job);
    await a.node.does("delete");
  });

  test("releases the floating IPs of the instance, like every delete", async () => {
    for (const how of [force, (id: string) => a.done(a.call("DELETE", at(id)), "delete")]) {
      const { id } = await a.stopped();
      const [nic] = await a.nicsOf(id);
      const ip = okOf(await makeFloatingIp(a.tenant));
      const path = `/v1/floating-ips/${ip.id}/attach`;
      await a.done(a.call("POST", path, { body: { nic_id: nic.id } }), "fip_claim");
      await how(id);
      expect(okOf(await a.call("GET", `/v1/floating-ips/${ip.id}`))).toMatchObject({
        attached_to: null,
        attached_instance_id: null,
        hosted_cn: null,
      });
      // A force delete does not wait for the node, which may still answer for the address.
      if (how === force) { for (const kind of ["fip_release", "delete"]) await a.node.does(kind); }
      okOf(await a.call("DELETE", `/v1/floating-ips/${ip.id}`));
    }
  });
});

describe("a disk", () => {
  const resize = (disk: string, size_bytes: number) =>
    a.call("POST", `/v1/disks/${disk}/resize`, { body: { size_bytes } });
  const disk = async (id: string): Promise<Disk> => okOf(await a.call("GET", `/v1/disks/${id}`));

  test("grows in the record at once and on its node later, and the answer shows whether a reboot is required", async () => {
    const { id } = await a.running();
    const [boot] = await a.disksOf(id);
    const grown = okOf(await resize(boot.id, 3 * GIB));
    expect(grown).toEqual({ ...boot, size_bytes: 3 * GIB, reboot_required: true });
    const job = await a.node.take();
    expect(job.kind).toEqual({ kind: "resize_disk", instance_id: id, disk_id: boot.id, size_bytes: 3 * GIB });
    expect((await disk(boot.id)).applied_bytes).toBe(2 * GIB);
    await a.node.complete(job);
    await a.ended(id, "disk-resize");
    expect((await disk(boot.id)).applied_bytes).toBe(3 * GIB);
    await a.act(id, "stop", "stop");
    expect(okOf(await resize(boot.id, 4 * GIB)).reboot_required).toBe(false);
    await a.node.does("resize_disk");
    await a.destroy(id);
  });

  test("rejects a second resize until the first one ends", async () => {
    const { id } = await a.running();
    const [{ id: boot }] = await a.disksOf(id);
    okOf(await resize(boot, 3 * GIB));
    const job = await a.node.take();
    const { id: operation_id } = await a.operation(id, "disk-resize");
    for (const size of [3 * GIB, 4 * GIB]) {
      const message = `disk ${boot} is being resized by operation ${operation_id}; wait for it to end`;
      conflictWith(await resize(boot, size), message);
    }
    expect(await disk(boot)).toMatchObject({ size_bytes: 3 * GIB, applied_bytes: 2 * GIB });
    await a.node.complete(job);
    await a.ended(id, "disk-resize");
    okOf(await resize(boot, 4 * GIB));
    const both = [resize(boot, 5 * GIB), resize(boot, 6 * GIB)];
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([409, 409]);
    await a.node.does("resize_disk");
    await a.destroy(id);
  });

  test("rejects a smaller or equal size and more than 16 TiB", async () => {
    const { id } = await a.running();
    const [{ id: boot, size_bytes }] = await a.disksOf(id);
    for (const size of [0, 16 * 2 ** 40 + 1]) {
      const message = "size_bytes must be greater than zero and at most 16 TiB";
      expectRefused(await resize(boot, size), 400, "BadRequest", message);
    }
    for (const size of [size_bytes, size_bytes - 1]) {
      conflictWith(await resize(boot, size), `disk resize must grow: requested ${size} <= current ${size_bytes}`);
    }
    notFound(await resize(randomUUID(), 4 * GIB));
    await a.destroy(id);
  });

  test("gets 400 for a resize while its instance is neither running nor stopped", async () => {
    const { id } = await a.running();
    const [{ id: boot }] = await a.disksOf(id);
    const answer = post(id, "stop");
    const job = await a.node.take();
    const message = "instance must be running or stopped to resize its disk";
    expectRefused(await resize(boot, 3 * GIB), 400, "BadRequest", message);
    await a.t.db.query("update instance set host_cn_uuid = null where id = $1", [id]);
    expectRefused(await resize(boot, 3 * GIB), 400, "BadRequest", "instance is not placed on a CN yet");
    await a.t.db.query("update instance set host_cn_uuid = $2 where id = $1", [id, a.node.server_uuid]);
    await a.node.complete(job);
    okOf(await answer);
    await a.destroy(id);
  });

  test("shows both sizes if its node fails to grow it; the instance keeps running, and the resize can be repeated", async () => {
    const { id } = await a.running();
    const [{ id: boot }] = await a.disksOf(id);
    okOf(await resize(boot, 3 * GIB));
    await a.node.fail(await a.node.take(), "no space");
    expect(await a.ended(id, "disk-resize")).toMatchObject({ state: "unwound", error: "no space" });
    expect(await disk(boot)).toMatchObject({ size_bytes: 3 * GIB, applied_bytes: 2 * GIB });
    expect(await lifecycle(id)).toEqual({ state: "running" });
    okOf(await resize(boot, 3 * GIB));
    await a.node.does("resize_disk");
    expect((await a.ended(id, "disk-resize")).state).toBe("succeeded");
    expect((await disk(boot)).applied_bytes).toBe(3 * GIB);
    await a.destroy(id);
  });

  test("cannot grow beyond the quota or the node's room", async () => {
    const before = await a.dump();
    const { id } = await a.running();
    const [{ id: boot }] = await a.disksOf(id);
    const quota = `/v1/tenants/${a.tenant.tenant_id}/projects/${a.tenant.project_id}/quota`;
    const limits = { cpu_limit: 99, memory_bytes: 99 * GIB, disk_bytes: 4 * GIB, instance_limit: 9 };
    okOf(await a.t.call("PUT", quota, { body: limits }));
    expect((await resize(boot, 5 * GIB)).body.error_code).toBe("QuotaExceeded");
    okOf(await a.t.call("DELETE", quota));
    const message = `the node of disk ${boot} has too little free space for the requested size`;
    conflictWith(await resize(boot, 8 * 2 ** 40), message);
    okOf(await resize(boot, 4 * GIB));
    await a.node.does("resize_disk");
    await a.destroy(id);
    expect(await a.left(before)).toEqual([]);
  });
});

describe("a node's report", () => {
  const report = async (vms: object, more: object = {}) =>
    void okOf(await a.node.call("POST", "/v1/agent/status", { payload: { vms, ...more } }));
  const vm = (state: string, internal_metadata: object = {}) => ({ state, internal_metadata });

  test("overrides the recorded state of an instance without an operation in progress", async () => {
    const { id } = await a.running();
    await report({ [id]: vm("stopped") });
    expect(await lifecycle(id)).toEqual({ state: "stopped" });
    await report({ [id]: vm("running") });
    expect(await lifecycle(id)).toEqual({ state: "running" });
    await report({ [id]: vm("installed") });
    expect(await lifecycle(id)).toEqual({ state: "stopped" });
    for (const state of ["receiving", "sending", "configured", "incomplete", "destroyed", "unknown", "toString"]) {
      await report({ [id]: vm(state) });
      expect(await lifecycle(id)).toEqual({ state: "stopped" });
    }
    await report({ [id]: vm("failed") });
    expect(await lifecycle(id)).toEqual({ state: "failed", reason: "its node reports it as failed" });
    await report({ [id]: vm("running") });
    expect(await lifecycle(id)).toEqual({ state: "running" });
    await a.destroy(id);
  });

  test("is ignored while the instance has an operation in progress", async () => {
    const { id } = await a.running();
    const answer = post(id, "stop");
    const job = await a.node.take();
    await report({ [id]: vm("running") });
    expect(await lifecycle(id)).toEqual({ state: "stopping" });
    await a.node.complete(job);
    expect(okOf(await answer).lifecycle).toEqual({ state: "stopped" });
    await a.destroy(id);
  });

  test("is ignored if it is older than the last accepted report", async () => {
    const { id } = await a.running();
    const made = (minute: number) => ({ timestamp: new Date(Date.UTC(2030, 0, 1, 0, minute)).toISOString() });
    await report({ [id]: vm("stopped") }, made(2));
    await report({ [id]: vm("running") }, made(1));
    expect(await lifecycle(id)).toEqual({ state: "stopped" });
    await report({ [id]: vm("running") }, made(3));
    expect(await lifecycle(id)).toEqual({ state: "running" });
    await a.destroy(id);
  });

  test("is ignored if it names another VM identity or comes from another node", async () => {
    const { id } = await a.running();
    await report({ [id]: vm("stopped", { "cp:identity_hmac": "0".repeat(64) }) });
    expect(await lifecycle(id)).toEqual({ state: "running" });
    const other = await a.t.approvedNode();
    const body = { payload: { vms: { [id]: vm("stopped") } } };
    okOf(await a.t.call("POST", "/v1/agent/status", { key: other.api_key, body }));
    expect(await lifecycle(id)).toEqual({ state: "running" });
    await a.destroy(id);
  });

  test("that omits an instance twice in a row sets found_on_host to false and changes no state", async () => {
    const { id } = await a.running();
    const found = async () => (await a.show(id)).found_on_host;
    await report({});
    expect(await found()).toBe(true);
    await report({});
    expect([await found(), await lifecycle(id)]).toEqual([false, { state: "running" }]);
    await report({});
    await report({ [id]: vm("running") });
    expect(await found()).toBe(true);
    okOf(await a.node.call("POST", "/v1/agent/status", { payload: { pools: [] } }));
    okOf(await a.node.call("POST", "/v1/agent/status", { payload: { vms: [] } }));
    expect(await found()).toBe(true);
    await a.destroy(id);
  });
});
