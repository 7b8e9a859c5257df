// Tests a move of a floating IP whose old instance is deleted by force meanwhile. The document of the new node gets the
// address only after the old node has released it, so that two nodes never answer for the address
// (docs/networking.md, "Floating IPs").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FloatingIp } from "../../src/contract/network.ts";
import { okOf } from "../support/control-plane.ts";
import { failed, path, UNBOUND } from "./bindings.ts";
import { type NetworkFixture, openNetworkFixture } from "./network-fixture.ts";
import { conflictWith, ended, makeFloatingIp } from "./public-addresses.ts";

describe("a floating IP that loses its old instance while it moves", () => {
  let f: NetworkFixture;
  let ip: FloatingIp;
  let instance_id: string;
  let old_nic: string;

  beforeAll(async () => {
    f = await openNetworkFixture();
  });
  afterAll(() => f?.t.close());

  const call = (verb: string, body?: object) => f.call("POST", path(ip.id, verb), { body });
  const attach = (nic_id: string) => call("attach", { nic_id });
  const shown = async () => okOf(await f.call("GET", path(ip.id)));
  const forceDelete = async () =>
    expect((await f.t.call("DELETE", `/v1/instances/${instance_id}?force=true`)).status).toBe(204);
  /** Lists the floating IPs in the documents of the old and of the new node. */
  const served = () =>
    Promise.all(
      [f.one, f.two].map(async (node) =>
        (await f.poll(node)).vpcs.flatMap(({ local_nics }) => local_nics.flatMap((nic) => nic.floating_ips))
      ),
    );
  /** Attaches a new floating IP to a new instance on the old node. */
  async function attached(name: string): Promise<void> {
    const { instance, nic } = await f.placed(f.one, name);
    [instance_id, old_nic] = [instance.id, nic.id];
    ip = okOf(await makeFloatingIp(f.tenant));
    await f.one.done(attach(old_nic), "fip_claim");
    expect(await served()).toEqual([[ip.address], []]);
  }
  /** Completes the jobs that the forced delete enqueued for the old node. */
  async function finishOld(): Promise<void> {
    for (const kind of ["fip_release", "delete"]) await f.one.does(kind);
  }

  test("gets its new node after the old node has ended its release", async () => {
    await attached("lost-1");
    const moving = attach(f.db.nic.id);
    const release = await f.one.take();
    await forceDelete();
    expect(await served()).toEqual([[], []]);
    expect((await f.two.ask()).job).toBeNull();
    await f.one.complete(release);
    const claim = await f.two.take();
    expect(await served()).toEqual([[], []]);
    await f.two.complete(claim);
    expect(okOf(await moving)).toMatchObject({ attached_to: f.db.nic.id, hosted_cn: f.two.server_uuid });
    expect(await served()).toEqual([[], [ip.address]]);
    await finishOld();
    await f.two.done(call("detach"), "fip_release");
    expect((await f.call("DELETE", path(ip.id))).status).toBe(204);
  });

  test("is detached if the old node fails to release it, and no other node gets it before the old node has released it", async () => {
    await attached("lost-2");
    const moving = attach(f.db.nic.id);
    const release = await f.one.take();
    await forceDelete();
    await f.one.fail(release, "conntrack is not installed");
    failed(await moving, "attach failed: conntrack is not installed");
    await ended(f.t, release.operation_id);
    expect(await shown()).toMatchObject(UNBOUND);
    expect(await served()).toEqual([[], []]);
    expect((await f.two.ask()).job).toBeNull();
    const held = `floating ip ${ip.id} (${ip.address}) is still held by node ${f.one.server_uuid}`;
    expect((await attach(f.db.nic.id)).body.message).toContain(held);
    await finishOld();
    await f.two.done(attach(f.db.nic.id), "fip_claim");
    expect(await served()).toEqual([[], [ip.address]]);
    await f.two.done(call("detach"), "fip_release");
    expect((await f.call("DELETE", path(ip.id))).status).toBe(204);
  });

  test("is in no document while the old node binds it again because the new node failed", async () => {
    await attached("lost-3");
    const moving = attach(f.db.nic.id);
    await f.one.does("fip_release");
    const claim = await f.two.take();
    await f.two.fail(claim, "no such uplink");
    const again = await f.one.take();
    expect(again.kind).toMatchObject({ kind: "fip_claim", nic_id: old_nic });
    await forceDelete();
    expect(await served()).toEqual([[], []]);
    failed(await moving, "attach failed: no such uplink");
    await ended(f.t, claim.operation_id);
    expect(await shown()).toMatchObject(UNBOUND);
    expect(await served()).toEqual([[], []]);
    conflictWith(
      await f.call("DELETE", path(ip.id)),
      `floating ip ${ip.id} (${ip.address}) is still held by node ${f.one.server_uuid}, which has not released it yet`,
    );
    await f.one.complete(again);
    await finishOld();
    expect((await f.two.ask()).job).toBeNull();
    expect((await f.call("DELETE", path(ip.id))).status).toBe(204);
  });
});
