// Tests requests for floating IPs and for their instances at the same time. Either request may be the first. The last
// tests cover requests that do not wait for the node, and repeated requests (docs/reliability.md ).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bindings, bound, failed, openBindings, type Placed, UNBOUND } from "./bindings.ts";
import type { Node } from "../compute/compute-fixture.ts";
import { okOf } from "../support/control-plane.ts";
import { conflictWith, ended, expectRefused } from "./public-addresses.ts";

let b: Bindings;
beforeAll(async () => {
  b = await openBindings();
}, 60_000);
afterAll(() => b?.t.close());

/**
 * Takes the node's jobs until a job has this kind and satisfies `wanted`. Returns that job, and completes the earlier
 * jobs.
 */
async function jobOf(node: Node, kind: string, wanted: (of: Record<string, unknown>) => boolean) {
  for (;;) {
    const job = await node.take();
    if (job.kind.kind === kind && wanted(job.kind)) return job;
    await node.complete(job);
  }
}

describe("at the same time", () => {
  test("one of two attaches of one address succeeds, and the other attach gets 409", async () => {
    const ip = await b.make();
    const answers = Promise.all([b.attach(ip, b.web), b.attach(ip, b.standby)]);
    const job = await b.node.does("fip_claim");
    const [first, second] = await answers;
    expect([first.status, second.status].sort()).toEqual([200, 409]);
    const winner = first.status === 200 ? b.web : b.standby;
    expect(job.kind["nic_id"]).toBe(winner.nic.id);
    expect(await b.show(ip.id)).toMatchObject(bound(winner));
    await b.giveBack(ip, winner);
  });

  test("a floating IP is not attached to or moved from an instance that is being deleted", async () => {
    const goes: Placed = await b.stopped();
    const [held, free] = [await b.attached(goes), await b.make()];
    const deleting = b.call("DELETE", `/v1/instances/${goes.instance.id}`);
    const job = await goes.node.take();
    const message = `instance ${goes.instance.id} is being deleted`;
    conflictWith(await b.attach(free, goes), message);
    conflictWith(await b.attach(held, b.web), message);
    conflictWith(await b.detach(held), message);
    await goes.node.complete(job);
    expect((await deleting).status).toBe(204);
    // The node deleted the NIC and released its addresses.
    expect(await b.show(held.id)).toMatchObject(UNBOUND);
    await b.giveBack(held, null);
    await b.giveBack(free, null);
  });

  test("an instance is not deleted while a floating IP moves to or from it", async () => {
    const [from, to] = [await b.stopped(), await b.stopped()];
    const ip = await b.attached(from);
    const answer = b.attach(ip, to);
    const release = await from.node.take();
    const { operation_id } = release;
    for (const { instance: { id } } of [from, to]) {
      const message = `operation ${operation_id} still runs on a floating ip of instance ${id}; wait for it to end`;
      conflictWith(await b.call("DELETE", `/v1/instances/${id}`), message);
    }
    await from.node.complete(release);
    await to.node.does("fip_claim");
    expect(okOf(await answer)).toMatchObject(bound(to));
    for (const each of [from, to]) {
      await each.node.done(b.call("DELETE", `/v1/instances/${each.instance.id}`), "delete");
    }
    await b.giveBack(ip, null);
  });

  test("the forced delete of the new instance rolls the attach back, and the instance's node gets the job's tombstone", async () => {
    const [from, to] = [b.web, await b.stopped()];
    const ip = await b.attached(from);
    const answer = b.attach(ip, to);
    await from.node.does("fip_release");
    const claim = await to.node.take();
    expect((await b.t.call("DELETE", `/v1/instances/${to.instance.id}?force=true`)).status).toBe(204);
    const reclaim = await jobOf(to.node, "fip_claim", ({ nic_id }) => nic_id === from.nic.id);
    await from.node.complete(reclaim);
    failed(await answer, "attach failed: abandoned by an operator");
    await b.operationOf(ip, "floating-ip-attach");
    expect(await b.show(ip.id)).toMatchObject(bound(from));
    const { tombstones } = await to.node.ask();
    expect(tombstones.map(({ id }) => id)).toEqual([claim.id]);
    await to.node.bury(claim);
    await b.giveBack(ip, from);
  });

  test("a floating IP is detached if its move fails after a forced delete of the old instance", async () => {
    const from = await b.stopped();
    const ip = await b.attached(from);
    const answer = b.attach(ip, b.away);
    await from.node.does("fip_release");
    const claim = await b.away.node.take();
    expect((await b.t.call("DELETE", `/v1/instances/${from.instance.id}?force=true`)).status).toBe(204);
    await b.away.node.fail(claim, "no such uplink");
    failed(await answer, "attach failed: no such uplink");
    await b.operationOf(ip, "floating-ip-attach");
    expect(await b.show(ip.id)).toMatchObject(UNBOUND);
    for (let jobs = 0; jobs < 2; jobs++) await from.node.complete(await from.node.take());
    // The documents of the new node never had the address, so this node gets no job to release it.
    expect((await b.away.node.ask()).job).toBeNull();
    await b.giveBack(ip, null);
  });
});

describe("the request", () => {
  test("with Prefer: respond-async returns the operation at once", async () => {
    const ip = await b.make();
    const answer = await b.attach(ip, b.web, { headers: { prefer: "respond-async" } });
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({ kind: "floating-ip-attach", state: "running" });
    expect(answer.headers.get("location")).toBe(`/v1/operations/${answer.body.id}`);
    await b.node.does("fip_claim");
    expect(await ended(b.t, answer.body.id)).toMatchObject({ state: "succeeded" });
    await b.giveBack(ip, b.web);
  });

  test("with an Idempotency-Key has one effect, and a repeat gets the same response", async () => {
    const ip = await b.make();
    const once = { headers: { "idempotency-key": randomUUID() } };
    const first = b.attach(ip, b.web, once);
    const job = await b.node.take();
    const meanwhile = await b.attach(ip, b.web, once);
    expectRefused(
      meanwhile,
      409,
      "Conflict",
      `the request with this Idempotency-Key still runs as operation ${job.operation_id}`,
    );
    expect(meanwhile.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    await b.node.complete(job);
    const made = okOf(await first);
    await b.node.done(b.detach(ip), "fip_release");
    expect(okOf(await b.attach(ip, b.web, once))).toEqual(made);
    expect(await b.show(ip.id)).toMatchObject(UNBOUND);
    await b.giveBack(ip, null);
  });
});
