// Tests floating IPs that a node failed to release. While the node may still answer for the address, the floating IP
// cannot be deleted, and it can be attached to another node only if the first node is silent or disabled
// (docs/networking.md, "Floating IPs").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FloatingIp } from "../../src/contract/network.ts";
import { FOLD_AGE_S, foldChanges, offerDocuments } from "../../src/db/realizations.ts";
import { okOf } from "../support/control-plane.ts";
import { path } from "./bindings.ts";
import { type NetworkFixture, openNetworkFixture } from "./network-fixture.ts";
import { conflictWith, ended, makeFloatingIp } from "./public-addresses.ts";

describe("a floating IP that a node may still hold", () => {
  let f: NetworkFixture;
  let ip: FloatingIp;

  beforeAll(async () => {
    f = await openNetworkFixture();
  });
  afterAll(() => f?.t.close());

  const held = () => `floating ip ${ip.id} (${ip.address}) is still held by node ${f.one.server_uuid}`;
  const refused = async () =>
    conflictWith(await f.call("DELETE", path(ip.id)), `${held()}, which has not released it yet`);

  /** Attaches a floating IP to `web`, whose node then applies the network. */
  async function attached(): Promise<FloatingIp> {
    const made = okOf(await makeFloatingIp(f.tenant));
    const attaching = f.call("POST", path(made.id, "attach"), { body: { nic_id: f.web.nic.id } });
    const ip: FloatingIp = await f.one.done(attaching, "fip_claim");
    await f.apply(f.one);
    return ip;
  }
  /** The node returns, takes the release that no operation waits for, and cannot carry it out. */
  async function failsRelease(): Promise<void> {
    await f.one.alive();
    await refused();
    const job = await f.one.take();
    expect(job.kind.kind).toBe("fip_release");
    await f.one.fail(job, "this node has not released it: conntrack is not installed");
  }

  const attach = (nic_id: string) => f.call("POST", path(ip.id, "attach"), { body: { nic_id } });
  const attachRefused = async (nic_id = f.db.nic.id) =>
    conflictWith(await attach(nic_id), `${held()}, which has not released it yet; try again in a minute`);
  const attachRefusedAfterFailure = async () =>
    conflictWith(
      await attach(f.db.nic.id),
      `${held()}, which failed to release it; ask an operator to repair the network of this node, or attach the ` +
        "address to an instance on it",
    );

  test("can be attached elsewhere only after the returned node has ended the release", async () => {
    ip = await attached();
    await f.silence(f.one);
    okOf(await f.call("POST", path(ip.id, "detach")));
    await f.one.alive();
    await attachRefused();
    const job = await f.one.take();
    await attachRefused();
    await f.one.complete(job);
    await f.two.done(attach(f.db.nic.id), "fip_claim");
    await f.two.done(f.call("POST", path(ip.id, "detach")), "fip_release");
    expect((await f.call("DELETE", path(ip.id))).status).toBe(204);
  });

  test("can be attached elsewhere if the returned node is disabled, because a disabled node gets no jobs", async () => {
    ip = await attached();
    await f.silence(f.one);
    okOf(await f.call("POST", path(ip.id, "detach")));
    await f.one.alive();
    const node = `/v1/cns/${f.one.server_uuid}`;
    okOf(await f.t.call("POST", `${node}/disable`));
    await f.two.done(attach(f.db.nic.id), "fip_claim");
    await f.two.done(f.call("POST", path(ip.id, "detach")), "fip_release");
    okOf(await f.t.call("POST", `${node}/enable`));
    await f.one.does("fip_release");
    expect((await f.call("DELETE", path(ip.id))).status).toBe(204);
  });

  test("can be attached elsewhere only after the node has undone a claim that was withdrawn while the node was silent", async () => {
    ip = okOf(await makeFloatingIp(f.tenant));
    const attaching = attach(f.web.nic.id);
    const claim = await f.one.take();
    await f.silence(f.one);
    okOf(await f.t.call("POST", `/v1/operations/${claim.operation_id}/abandon`));
    expect((await attaching).status).toBe(502);
    await ended(f.t, claim.operation_id);
    await f.two.done(attach(f.db.nic.id), "fip_claim");
    await f.two.done(f.call("POST", path(ip.id, "detach")), "fip_release");
    await f.one.alive();
    await attachRefused();
    await f.one.does("fip_release");
    await f.one.done(attach(f.web.nic.id), "fip_claim");
    await f.one.done(f.call("POST", path(ip.id, "detach")), "fip_release");
    await attachRefused();
    await f.one.bury(claim);
    await f.two.done(attach(f.db.nic.id), "fip_claim");
    await f.two.done(f.call("POST", path(ip.id, "detach")), "fip_release");
    expect((await f.call("DELETE", path(ip.id))).status).toBe(204);
  });

  test("whose first attach failed can be attached elsewhere only after the node of this attach has released it", async () => {
    ip = okOf(await makeFloatingIp(f.tenant));
    const attaching = attach(f.web.nic.id);
    const claim = await f.one.take();
    await f.one.fail(claim, "no space left on the device");
    expect((await attaching).status).toBe(502);
    await ended(f.t, claim.operation_id);
    await refused();
    await attachRefused();
    const { kind } = await f.one.does("fip_release");
    expect(kind).toMatchObject({ nic_id: f.web.nic.id, generation: claim.kind["generation"] });
    await f.two.done(attach(f.db.nic.id), "fip_claim");
    await f.two.done(f.call("POST", path(ip.id, "detach")), "fip_release");
    expect((await f.call("DELETE", path(ip.id))).status).toBe(204);
  });

  test("can be attached to the same NIC again only after the node has ended the release of the failed attach", async () => {
    ip = okOf(await makeFloatingIp(f.tenant));
    const attaching = attach(f.web.nic.id);
    const claim = await f.one.take();
    await f.one.fail(claim, "no space left on the device");
    expect((await attaching).status).toBe(502);
    await ended(f.t, claim.operation_id);
    await attachRefused(f.web.nic.id);
    const job = await f.one.take();
    await attachRefused(f.web.nic.id);
    await f.one.complete(job);
    await f.one.done(attach(f.web.nic.id), "fip_claim");
    await f.one.done(f.call("POST", path(ip.id, "detach")), "fip_release");
    expect((await f.call("DELETE", path(ip.id))).status).toBe(204);
  });

  test("can be deleted after a later release has succeeded, even if maintenance has folded the VPC's changes since then", async () => {
    ip = await attached();
    const first = f.call("POST", path(ip.id, "detach"));
    await f.one.fail(await f.one.take(), "conntrack is not installed");
    expect((await first).status).toBe(502);
    await f.one.done(f.call("POST", path(ip.id, "detach")), "fip_release");
    for (let rules = 0; rules < 3; rules += 1) await f.n.rule(f.vpc.id);
    await f.t.db.query("update vpc_change set at = at - make_interval(secs => $1)", [FOLD_AGE_S + 1]);
    await foldChanges(f.t.db);
    expect((await f.call("DELETE", path(ip.id))).status).toBe(204);
  });

  test("can be attached elsewhere while the node is silent again, and deleted after the node has applied a later document", async () => {
    ip = await attached();
    await f.silence(f.one);
    okOf(await f.call("POST", path(ip.id, "detach")));
    await failsRelease();
    await refused();
    const [late] = (await f.poll(f.one)).vpcs;
    okOf(await f.tryReport(f.one, f.vpc.id, { generation: late!.generation, status: "failed", message: "conntrack" }));
    await refused();
    await attachRefusedAfterFailure();
    await f.silence(f.one);
    await f.two.done(attach(f.db.nic.id), "fip_claim");
    await f.two.done(f.call("POST", path(ip.id, "detach")), "fip_release");
    await f.one.alive();
    await attachRefusedAfterFailure();
    await f.n.rule(f.vpc.id);
    okOf(await f.tryReport(f.one, f.vpc.id, { generation: late!.generation }));
    expect((await f.call("DELETE", path(ip.id))).status).toBe(204);
  });

  test.each([0, 1])(
    "can be deleted after the node has applied a document without it, even if this document lacks the last %s changes",
    async (behind) => {
      ip = await attached();
      await f.silence(f.one);
      okOf(await f.call("POST", path(ip.id, "detach")));
      await failsRelease();
      const { [f.vpc.id]: generation } = await f.stored(f.one);
      for (let changes = 0; changes < behind; changes += 1) await f.n.rule(f.vpc.id);
      okOf(await f.tryReport(f.one, f.vpc.id, { generation }));
      for (let changes = 0; changes < 3; changes += 1) await f.n.rule(f.vpc.id);
      await f.t.db.query("update vpc_change set at = at - make_interval(secs => $1)", [FOLD_AGE_S + 1]);
      await foldChanges(f.t.db);
      expect((await f.call("DELETE", path(ip.id))).status).toBe(204);
    },
  );

  test("can be deleted after the forced delete of its instance, when the node has confirmed that it removed the VPC", async () => {
    ip = await attached();
    await f.silence(f.one);
    okOf(await f.t.call("DELETE", `/v1/instances/${f.web.instance.id}?force=true`));
    await failsRelease();
    await refused();
    // The node has not applied another VPC of the project, and stores a deleted VPC of another tenant. Neither VPC
    // prevents the deletion.
    const { id: other } = await f.n.vpc();
    const { vpc: { id: foreign } } = await f.otherTenant();
    await offerDocuments(f.t.db, f.one.server_uuid, [other, foreign]);
    okOf(await f.t.call("DELETE", `/v1/vpcs/${foreign}`));
    const have = { [foreign]: 1, [other]: 1 };
    const { gone } = await f.poll(f.one, { have: { ...have, [f.vpc.id]: 1 } });
    expect(gone.sort()).toEqual([foreign, other, f.vpc.id].sort());
    await refused();
    await f.poll(f.one, { have });
    expect((await f.call("DELETE", path(ip.id))).status).toBe(204);
  });
});
