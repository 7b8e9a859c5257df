// Tests how floating IPs are attached, moved and detached, on nodes that the test simulates (docs/networking.md,
// "Floating IPs").
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bindings, bound, failed, openBindings, path, UNBOUND } from "./bindings.ts";
import { okOf } from "../support/control-plane.ts";
import { openTenant } from "../tenancy/tenant.ts";
import type { FloatingIp } from "../../src/contract/network.ts";
import { conflictWith, expectRefused, makeFloatingIp, makeNetwork, notFound } from "./public-addresses.ts";

let b: Bindings;
beforeAll(async () => {
  b = await openBindings();
}, 60_000);
afterAll(() => b?.t.close());

describe("a floating IP", () => {
  test("is bound by the node of the NIC, shows the binding, and is released there before it can be deleted", async () => {
    const ip = await b.make();
    const answer = b.attach(ip, b.web);
    const job = await b.node.take();
    expect(job.kind).toEqual({
      kind: "fip_claim",
      floating_ip_id: ip.id,
      fip_addr: ip.address,
      nic_id: b.web.nic.id,
      instance_id: b.web.instance.id,
      external_nic_tag: null,
      vlan_id: null,
      generation: 1,
    });
    conflictWith(await b.call("DELETE", path(ip.id)), `floating ip ${ip.id} is currently attached; detach first`);
    await b.node.complete(job);
    const made = okOf(await answer);
    expect(made).toEqual({ ...ip, ...bound(b.web), updated_at: made.updated_at });
    expect(await b.show(ip.id)).toEqual(made);
    expect(await b.listed(b.web)).toEqual([ip.id]);
    const { realized: _nodes, ...nic } = okOf(await b.call("GET", `/v1/nics/${b.web.nic.id}`));
    expect({ ...b.web.nic, floating_ips: [ip.address] }).toMatchObject(nic);
    conflictWith(await b.call("DELETE", path(ip.id)), `floating ip ${ip.id} is currently attached; detach first`);
    expect(await b.operationOf(ip, "floating-ip-attach")).toMatchObject({
      state: "succeeded",
      progress: { completed_steps: 4, total_steps: 4 },
      references: [
        { scope: "floating_ip", id: ip.id },
        { scope: "project", id: b.tenant.project_id },
        { scope: "tenant", id: b.tenant.tenant_id },
        { scope: "nic", id: b.web.nic.id },
        { scope: "instance", id: b.web.instance.id },
        { scope: "cn", id: b.node.server_uuid },
      ],
    });

    const freeing = b.detach(ip);
    const release = await b.node.take();
    const { vpc_id } = b.web.nic;
    expect(release.kind).toEqual({ ...job.kind, kind: "fip_release", hosted_cn: b.node.server_uuid, vpc_id });
    expect(await b.show(ip.id)).toMatchObject(bound(b.web));
    await b.node.complete(release);
    expect(okOf(await freeing)).toMatchObject(UNBOUND);
    expect(await b.show(ip.id)).toMatchObject(UNBOUND);
    expect(await b.listed(b.web)).toEqual([]);
    expect(await b.operationOf(ip, "floating-ip-detach")).toMatchObject({ state: "succeeded" });
    await b.giveBack(ip, null);
  });

  test("is attached and detached by a path below its project or with only its id, but not below another project", async () => {
    const ip = await b.make();
    const { tenant_id, project_id } = b.tenant;
    const below = (verb: string, of: { tenant_id?: string; project_id?: string } = {}) => {
      const place = { tenant_id, project_id, ...of };
      return `/v1/tenants/${place.tenant_id}/projects/${place.project_id}${path(ip.id, verb).slice(3)}`;
    };
    const body = { nic_id: b.web.nic.id.toUpperCase() };
    for (const elsewhere of [{ project_id: randomUUID() }, { tenant_id: randomUUID() }]) {
      notFound(await b.call("POST", below("attach", elsewhere), { body }));
      notFound(await b.call("POST", below("detach", elsewhere)));
    }
    await b.node.done(b.call("POST", below("attach"), { body }), "fip_claim");
    expect(await b.show(ip.id)).toMatchObject(bound(b.web));
    await b.node.done(b.call("POST", below("detach")), "fip_release");
    await b.giveBack(ip, null);
  });

  test("of an external network is bound only by nodes that offer the network's NIC tag, and the job names the VLAN", async () => {
    const network = await makeNetwork(b.t, { ipv4_block: "198.51.100.0/29", vlan_id: 7 });
    const ip = await b.make({ network_id: network.id });
    const message = `node ${b.node.server_uuid} does not offer NIC tag ${network.nic_tag}`;
    expectRefused(await b.attach(ip, b.web), 409, "NicTagNotProvided", message);
    expect(await b.show(ip.id)).toEqual(ip);
    await b.node.alive({ nic_tags: ["admin", network.nic_tag] });
    const answer = b.attach(ip, b.web);
    const job = await b.node.take();
    expect(job.kind).toMatchObject({ external_nic_tag: network.nic_tag, vlan_id: 7 });
    await b.node.complete(job);
    okOf(await answer);
    await b.giveBack(ip, b.web);
  });

  test("that is attached to its own NIC again, or detached twice, causes no further job", async () => {
    const ip = await b.attached(b.web);
    expect(okOf(await b.attach(ip, b.web))).toMatchObject(bound(b.web));
    expect(await b.listed(b.web)).toEqual([ip.id]);
    await b.node.done(b.detach(ip), "fip_release");
    expect(okOf(await b.detach(ip))).toMatchObject(UNBOUND);
    expect(await b.node.ask()).toEqual({ job: null, tombstones: [] });
    await b.giveBack(ip, null);
  });
});

test("a floating IP stays detached if the node of its first attach fails to bind it", async () => {
  const ip = await b.make();
  const answer = b.attach(ip, b.web);
  await b.node.fail(await b.node.take(), "no such uplink");
  failed(await answer, "attach failed: no such uplink");
  await b.operationOf(ip, "floating-ip-attach");
  expect(await b.show(ip.id)).toMatchObject(UNBOUND);
  expect(await b.listed(b.web)).toEqual([]);
  await b.node.does("fip_release");
  await b.giveBack(ip, null);
});

describe("a floating IP that moves", () => {
  test("is released by the old node before the new node claims it, and then belongs only to the new instance", async () => {
    const ip = await b.attached(b.web);
    const answer = b.attach(ip, b.away);
    const release = await b.node.take();
    expect(release.kind).toMatchObject({ kind: "fip_release", nic_id: b.web.nic.id, generation: 1 });
    expect((await b.away.node.ask()).job).toBeNull();
    await b.node.complete(release);
    const claim = await b.away.node.take();
    expect(claim.kind).toMatchObject({ kind: "fip_claim", nic_id: b.away.nic.id, generation: 2 });
    await b.away.node.complete(claim);
    expect(okOf(await answer)).toMatchObject(bound(b.away));
    expect([await b.listed(b.web), await b.listed(b.away)]).toEqual([[], [ip.id]]);
    await b.giveBack(ip, b.away);
  });

  test("between two instances of one node moves in the same way", async () => {
    const ip = await b.attached(b.web);
    const answer = b.attach(ip, b.standby);
    for (const kind of ["fip_release", "fip_claim"]) await b.node.does(kind);
    expect(okOf(await answer)).toMatchObject(bound(b.standby));
    expect([await b.listed(b.web), await b.listed(b.standby)]).toEqual([[], [ip.id]]);
    await b.giveBack(ip, b.standby);
  });

  test.each([["another node", "away"], ["the same node", "standby"]] as const)(
    "to %s is bound to its old NIC again if the new binding fails",
    async (_which, name) => {
      const target = b[name];
      const ip = await b.attached(b.web);
      const before = await b.show(ip.id);
      const answer = b.attach(ip, target);
      await b.node.does("fip_release");
      await target.node.fail(await target.node.take(), "no such uplink");
      const again = await b.node.take();
      expect(again.kind).toMatchObject({ kind: "fip_claim", nic_id: b.web.nic.id, generation: 3 });
      conflictWith(await b.attach(ip, b.standby), b.busy(ip, again, "attach"));
      await b.node.complete(again);
      failed(await answer, "attach failed: no such uplink");
      expect(await b.operationOf(ip, "floating-ip-attach")).toMatchObject({
        state: "unwound",
        error: "no such uplink",
      });
      const after = await b.show(ip.id);
      expect(after).toEqual({ ...before, updated_at: after.updated_at });
      expect([await b.listed(b.web), await b.listed(target)]).toEqual([[ip.id], []]);
      await b.giveBack(ip, b.web);
    },
  );

  test("stays attached to its NIC if the NIC's node fails to release the address", async () => {
    const ip = await b.attached(b.web);
    const answer = b.attach(ip, b.away);
    await b.node.fail(await b.node.take(), "stuck in the switch");
    failed(await answer, "attach failed: stuck in the switch");
    await b.operationOf(ip, "floating-ip-attach");
    expect(await b.show(ip.id)).toMatchObject(bound(b.web));
    expect((await b.away.node.ask()).job).toBeNull();
    await b.giveBack(ip, b.web);
  });

  test("from a node that is not live does not wait for the node, and can be deleted only after the node has released it", async () => {
    const ip = await b.attached(b.web);
    await b.silent(b.node);
    await b.away.node.done(b.attach(ip, b.away), "fip_claim");
    expect(await b.show(ip.id)).toMatchObject(bound(b.away));
    await b.away.node.done(b.detach(ip), "fip_release");
    const message = `floating ip ${ip.id} (${ip.address}) is still held by node ${b.node.server_uuid}, which has not ` +
      "released it yet";
    conflictWith(await b.call("DELETE", path(ip.id)), message);
    await b.node.alive();
    const late = await b.node.take();
    expect(late.kind).toMatchObject({ kind: "fip_release", nic_id: b.web.nic.id, generation: 1 });
    conflictWith(await b.call("DELETE", path(ip.id)), message);
    await b.node.complete(late);
    await b.giveBack(ip, null);
  });

  test("is bound to the old node again if the new node fails, even if the old node is not live at that time", async () => {
    const ip = await b.attached(b.web);
    await b.silent(b.node);
    const answer = b.attach(ip, b.away);
    await b.away.node.fail(await b.away.node.take(), "no such uplink");
    failed(await answer, "attach failed: no such uplink");
    expect(await b.show(ip.id)).toMatchObject(bound(b.web));
    await b.node.alive();
    expect((await b.node.does("fip_release")).kind).toMatchObject({ generation: 1 });
    expect((await b.node.does("fip_claim")).kind).toMatchObject({ nic_id: b.web.nic.id, generation: 3 });
    await b.giveBack(ip, b.web);
  });
});

describe("detach", () => {
  test("leaves the binding unchanged if the node fails", async () => {
    const ip = await b.attached(b.web);
    const answer = b.detach(ip);
    await b.node.fail(await b.node.take(), "stuck in the switch");
    failed(await answer, "detach failed: stuck in the switch");
    await b.operationOf(ip, "floating-ip-detach");
    expect(await b.show(ip.id)).toMatchObject(bound(b.web));
    await b.giveBack(ip, b.web);
  });

  test("from a node that is not live does not wait for the node", async () => {
    const ip = await b.attached(b.web);
    await b.silent(b.node);
    expect(okOf(await b.detach(ip))).toMatchObject(UNBOUND);
    expect((await b.call("DELETE", path(ip.id))).status).toBe(409);
    await b.node.alive();
    await b.node.does("fip_release");
    await b.giveBack(ip, null);
  });
});

describe("attach refuses", () => {
  test("a NIC that does not exist, or is in another project or tenant", async () => {
    const ip = await b.make();
    const other = await openTenant(b.t, "other");
    const theirs: FloatingIp = okOf(await makeFloatingIp(other));
    for (const nic_id of [randomUUID(), b.web.nic.id]) {
      notFound(await other.call("POST", path(theirs.id, "attach"), { body: { nic_id } }));
    }
    notFound(await b.call("POST", path(ip.id, "attach"), { body: { nic_id: randomUUID() } }));
    notFound(await b.call("POST", path(theirs.id, "attach"), { body: { nic_id: b.web.nic.id } }));
    const projects = `/v1/tenants/${b.tenant.tenant_id}/projects`;
    const project = okOf(await b.call("POST", projects, { body: { name: "second" } }));
    const query = `?tenant=${b.tenant.tenant_id}&project=${project.id}`;
    const beside = okOf(await b.call("POST", `/v1/floating-ips${query}`, { body: { name: "b", family: "v4" } }));
    notFound(await b.call("POST", path(beside.id, "attach"), { body: { nic_id: b.web.nic.id } }));
    await b.giveBack(beside, null);
    await b.giveBack(ip, null);
  });

  test("a NIC without an address of the floating IP's family", async () => {
    const ip = await b.make();
    await b.t.db.query("update nic set primary_ipv4 = null where id = $1", [b.web.nic.id]);
    conflictWith(await b.attach(ip, b.web), `nic ${b.web.nic.id} has no v4 address, which the v4 floating IP needs`);
    await b.t.db.query("update nic set primary_ipv4 = $2 where id = $1", [b.web.nic.id, b.web.nic.primary_ipv4]);
    await b.giveBack(ip, null);
  });

  test.each([{}, { nic_id: "web" }, { nic_id: null }, { nic_id: randomUUID(), instance_id: randomUUID() }])(
    "an invalid body: %j",
    async (body) => {
      const ip = await b.make();
      expect((await b.call("POST", path(ip.id, "attach"), { body })).status).toBe(400);
      await b.giveBack(ip, null);
    },
  );

  test("a NIC of an instance that has no node, or is being created", async () => {
    const ip = await b.make();
    const { id } = b.standby.instance;
    await b.t.db.query("update instance set host_cn_uuid = null, version = version + 1 where id = $1", [id]);
    conflictWith(
      await b.attach(ip, b.standby),
      `instance ${id} is not placed on a CN yet; wait for its creation to end`,
    );
    await b.t.db.query("update instance set host_cn_uuid = $2, version = version + 1 where id = $1", [
      id,
      b.node.server_uuid,
    ]);
    await b.silent(b.away.node);
    const creating = b.create({ name: "slow" });
    const provision = await b.node.take();
    const made = String(provision.kind["instance_id"]);
    const [nic] = await b.nicsOf(made);
    conflictWith(await b.attach(ip, { nic }), `instance ${made} is being created`);
    await b.node.fail(provision, "not today");
    expect((await creating).status).toBe(502);
    await b.away.node.alive();
    await b.giveBack(ip, null);
  });
});
