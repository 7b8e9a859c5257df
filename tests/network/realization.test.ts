// Tests the reports of nodes about network documents, and the requests that wait for such reports (docs/networking.md,
// "Realizations").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Realized } from "../../src/contract/network.ts";
import { type Answer, okOf, openTestControlPlane } from "../support/control-plane.ts";
import { FOLD_AGE_S, foldChanges } from "../../src/db/realizations.ts";
import { REALIZATIONS_IN_LIST_MAX } from "../../src/contract/limits.ts";
import { type NetworkFixture, openNetworkFixture } from "./network-fixture.ts";

let f: NetworkFixture;
beforeAll(async () => {
  f = await openNetworkFixture();
});
afterAll(() => f.t.close());

const realized = async (path = `/v1/vpcs/${f.vpc.id}`): Promise<Realized> => okOf(await f.call("GET", path)).realized;
const status = ({ status, body }: Answer) => [status, body?.message];

test("a change of a VPC is in effect when the VPC's slowest node has applied it", async () => {
  const { one, two, vpc } = f;
  const generation = (await f.stored(one))[vpc.id]!;
  expect((await realized()).applied_generation).toBeNull();
  okOf(await f.tryReport(one, vpc.id, { generation }));
  await f.stored(two);
  expect((await realized()).applied_generation).toBeNull();
  okOf(await f.tryReport(two, vpc.id, { generation: generation - 1 }));
  expect(await realized()).toMatchObject({ desired_generation: generation, applied_generation: generation - 1 });
  okOf(await f.tryReport(two, vpc.id, { generation }));
  const all = await realized(`/v1/subnets/${f.subnet.id}`);
  expect(all.applied_generation).toBe(generation);
  expect(all.realizations.map(({ realizer, status, message }) => ({ realizer, status, message }))).toEqual(
    [one, two].map(({ server_uuid: id }) => ({ realizer: { kind: "cn", id }, status: "applied", message: null }))
      .sort((a, b) => a.realizer.id < b.realizer.id ? -1 : 1),
  );
});

test("a NIC shows which generation each node of its VPC has applied, alone and in a list", async () => {
  const { nic } = f.web;
  const expected = await realized();
  expect(expected.realizations).toHaveLength(2);
  expect(await realized(`/v1/nics/${nic.id}`)).toEqual(expected);
  const { items } = okOf(await f.call("GET", `/v1/nics?instance=${nic.instance_id}`));
  expect(items.map((each: { realized: Realized }) => each.realized)).toEqual([expected]);
});

describe("a report", () => {
  test("about an older generation than the node's last report is refused", async () => {
    const generation = (await f.apply(f.one))[f.vpc.id]!;
    const back = await f.tryReport(f.one, f.vpc.id, { generation: generation - 1 });
    expect(status(back)).toEqual([
      409,
      `the report about generation ${generation - 1} is out of date: the node has reported generation ${generation}`,
    ]);
    expect((await f.tryReport(f.one, f.vpc.id, { generation, status: "accepted" })).status).toBe(409);
    expect((await f.tryReport(f.one, f.vpc.id, { generation })).status).toBe(200);
  });

  test("about a generation that does not exist yet is refused", async () => {
    const generation = (await f.apply(f.one))[f.vpc.id]!;
    const ahead = await f.tryReport(f.one, f.vpc.id, { generation: generation + 1 });
    expect(status(ahead)).toEqual([
      409,
      `the vpc has no generation ${generation + 1} yet; its newest is ${generation}`,
    ]);
  });

  test("in the name of another node is refused, and so is a report about a VPC that the node does not host", async () => {
    const other = await f.tryReport(f.one, f.vpc.id, {
      generation: 1,
      realizer: { kind: "cn", id: f.two.server_uuid },
    });
    expect(status(other)).toEqual([403, "realizer must be the node whose key sends the request"]);
    expect((await f.tryReport(f.idle, f.vpc.id, { generation: 1 })).status).toBe(404);
    expect((await f.tryReport(f.one, (await f.otherTenant()).vpc.id, { generation: 1 })).status).toBe(404);
  });

  test("of a failure shows its reason and does not count as applied", async () => {
    const applied = (await f.apply(f.two))[f.vpc.id]!;
    await f.apply(f.one);
    await f.n.rule(f.vpc.id);
    const generation = (await f.stored(f.two))[f.vpc.id]!;
    okOf(await f.tryReport(f.two, f.vpc.id, { generation, status: "failed", message: "nft: no such device" }));
    const { applied_generation, realizations } = await realized();
    expect(applied_generation).toBe(applied);
    expect(realizations.find(({ realizer }) => realizer.id === f.two.server_uuid)).toMatchObject({
      generation,
      status: "failed",
      message: "nft: no such device",
    });
  });
});

describe("Prefer: wait", () => {
  const create = (wait: string) =>
    f.call("POST", `/v1/firewall-rules?vpc=${f.vpc.id}`, {
      body: { name: crypto.randomUUID(), priority: 1, direction: "inbound", action: "deny" },
      headers: { prefer: wait },
    });

  test("waits until every node has applied the write", async () => {
    const waiting = create("wait=20");
    await new Promise((resolve) => setTimeout(resolve, 100));
    await f.apply(f.one);
    await f.apply(f.two);
    const { status, body, headers } = await waiting;
    expect([status, headers.get("preference-applied")]).toEqual([201, "wait=20"]);
    expect(body.realized.applied_generation).toBe(body.realized.desired_generation);
  });

  test("answers without Preference-Applied when a node has not applied the write in time", async () => {
    const { status, body, headers } = await create("wait=1");
    expect([status, headers.get("preference-applied")]).toEqual([201, null]);
    expect(body.realized.applied_generation).toBeLessThan(body.realized.desired_generation);
  });

  test("waits in the same way until every node has applied a delete", async () => {
    const { body: rule } = await create("return=minimal");
    expect(rule.realized).toBeNull();
    const waiting = f.call("DELETE", `/v1/firewall-rules/${rule.id}`, { headers: { prefer: "wait=20" } });
    await new Promise((resolve) => setTimeout(resolve, 100));
    await f.apply(f.one);
    await f.apply(f.two);
    const { status, headers } = await waiting;
    expect([status, headers.get("preference-applied")]).toEqual([204, "wait=20"]);
  });

  test("is fulfilled at once if no node has the VPC", async () => {
    const vpc = await f.n.vpc();
    const answer = await f.call("POST", `/v1/subnets?vpc=${vpc.id}`, {
      body: { name: "empty", ipv4_block: "10.0.9.0/24" },
      headers: { prefer: "wait=20" },
    });
    expect(answer.headers.get("preference-applied")).toBe("wait=20");
  });
});

test("a poll and a wait at one process are woken by a write and a report at another process", async () => {
  const other = await openTestControlPlane({ databaseUrl: f.t.databaseUrl });
  try {
    const have = await f.apply(f.one);
    await f.apply(f.two);
    const polling = f.poll(f.one, { wait: 20, have });
    await new Promise((resolve) => setTimeout(resolve, 400));
    const written = other.call("POST", `/v1/firewall-rules?vpc=${f.vpc.id}`, {
      key: f.tenant.key,
      body: { name: "there", priority: 1, direction: "inbound", action: "deny" },
      headers: { prefer: "wait=20" },
    });
    expect((await polling).vpcs).toHaveLength(1);
    await f.apply(f.one);
    await f.apply(f.two);
    expect((await written).headers.get("preference-applied")).toBe("wait=20");
  } finally {
    await other.close();
  }
});

test("a VNI is not used again while a node may have its VPC", async () => {
  const { db } = f.t;
  const isFree = async (vni: number): Promise<boolean> =>
    (await db.query("select guard_vni_is_free(jsonb_build_object('vni', $1::int)) as free", [vni])).rows[0].free;
  const vpc = await f.n.vpc();
  const subnet = await f.n.subnet(vpc.id, { ipv4_block: "10.0.1.0/24" });
  const extra = await f.placed(f.idle, "extra", { primary_subnet_id: subnet.id });
  expect(Object.keys(await f.stored(f.idle))).toEqual([vpc.id]);
  await f.removed(extra);
  for (const path of [`subnets/${subnet.id}`, `vpcs/${vpc.id}`]) expect(await f.n.remove(`/v1/${path}`)).toEqual([204]);
  expect(await isFree(vpc.vni)).toBe(false);
  expect((await f.poll(f.idle, { have: { [vpc.id]: 1 } })).gone).toEqual([vpc.id]);
  expect(await isFree(vpc.vni)).toBe(false);
  await f.poll(f.idle);
  expect(await isFree(vpc.vni)).toBe(true);
});

test("a list shows at most ten nodes of a VPC, first the nodes that are not up to date; the view of one object shows more", async () => {
  const [late, ...others] = await f.spread(REALIZATIONS_IN_LIST_MAX);
  for (const node of [f.one, f.two, ...others]) await f.apply(node);
  const one = await realized(`/v1/subnets/${f.subnet.id}`);
  expect(one).toMatchObject({ nodes: REALIZATIONS_IN_LIST_MAX + 2, nodes_pending: 1, applied_generation: null });
  expect(one.realizations).toHaveLength(REALIZATIONS_IN_LIST_MAX + 2);
  const { items } = okOf(await f.call("GET", `/v1/subnets?vpc=${f.vpc.id}`));
  const listed: Realized = items.find(({ id }: { id: string }) => id === f.subnet.id).realized;
  expect(listed).toEqual({ ...one, realizations: one.realizations.slice(0, REALIZATIONS_IN_LIST_MAX) });
  expect(listed.realizations[0]!.realizer.id).toBe(late!.server_uuid);
});

test("the change count of a deleted VPC is deleted once the VPC's changes are folded, and other VPCs keep their counts", async () => {
  const { id } = await f.n.vpc();
  expect((await f.call("DELETE", `/v1/vpcs/${id}`)).status).toBe(204);
  const counted = async () =>
    (await f.t.db.query("select vpc_id from vpc_generation where vpc_id = any($1) order by 1", [[id, f.vpc.id]])).rows
      .map(({ vpc_id }) => vpc_id);
  // Maintenance runs before and after the changes are old enough to be folded.
  await foldChanges(f.t.db);
  await f.t.db.query("update vpc_change set at = at - make_interval(secs => $1)", [FOLD_AGE_S + 1]);
  await foldChanges(f.t.db);
  expect(await counted()).toContain(id);
  await foldChanges(f.t.db);
  expect(await counted()).toEqual([f.vpc.id]);
});
