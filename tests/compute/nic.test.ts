// Tests how NICs are added to an instance, changed and removed (docs/instances.md, "NICs").
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ADDITIONAL_IPS_MAX, ALLOWED_CIDRS_MAX, EXTRA_NICS_MAX } from "../../src/contract/limits.ts";
import { brokenInvariants } from "../doctor/broken.ts";
import { conflictWith, notFound } from "../network/public-addresses.ts";
import { okOf } from "../support/control-plane.ts";
import { type ComputeFixture, openComputeFixture } from "./compute-fixture.ts";

let a: ComputeFixture;
let back: { readonly id: string };
beforeAll(async () => {
  a = await openComputeFixture();
  back = await a.make(`/v1/subnets?vpc=${a.vpc.id}`, { name: "back", ipv4_block: "10.0.2.0/24" });
});
afterAll(() => a.t.close());

const add = (id: string, body: object = {}, headers: Record<string, string> = {}) =>
  a.call("POST", `/v1/nics?instance=${id}`, { body: { name: "backend", subnet_id: back.id, ...body }, headers });
const change = (id: string, body: object) => a.call("PATCH", `/v1/nics/${id}`, { body });
const remove = (id: string) => a.call("DELETE", `/v1/nics/${id}`);
const badRequest = async (answer: ReturnType<typeof add>, text: string) => {
  const { status, body } = await answer;
  expect([status, body.message]).toEqual([400, expect.stringContaining(text)]);
};

test("a NIC is added to a stopped instance, is sent to the node at the next start, and is removed after a stop", async () => {
  const before = await a.dump();
  const { id } = await a.stopped();
  const [primary] = await a.nicsOf(id);
  const nic = okOf(await add(id));
  expect(nic).toMatchObject({
    name: "backend",
    instance_id: id,
    subnet_id: back.id,
    vpc_id: a.vpc.id,
    primary_ipv4: "10.0.2.2",
    primary_ipv6: null,
    additional_ips: [],
    allowed_cidrs: [],
    floating_ips: [],
  });
  expect(nic.mac).toMatch(/^02(:[0-9a-f]{2}){5}$/);
  const seen = okOf(await a.call("GET", `/v1/nics/${nic.id}`));
  expect({ ...seen, realized: null }).toEqual(nic);
  const starting = a.call("POST", `/v1/instances/${id}/start`);
  const job = await a.node.take();
  const blueprint = okOf(await a.node.call("GET", `/v1/agent/jobs/${job.id}/blueprint`));
  expect(blueprint.nics.map((each: { id: string }) => each.id)).toEqual([primary.id, nic.id]);
  expect(blueprint.subnets.map((each: { id: string }) => each.id)).toEqual([a.subnet.id, back.id]);
  expect([blueprint.user_data, blueprint.managed_identity]).toEqual([null, null]);
  await a.node.complete(job);
  okOf(await starting);
  const { name } = await a.show(id);
  conflictWith(await add(id), `${name} is running; NICs can be added and removed only while it is stopped`);
  conflictWith(await remove(nic.id), `${name} is running; NICs can be added and removed only while it is stopped`);
  await a.act(id, "stop", "stop");
  conflictWith(await remove(primary.id), "primary is the primary NIC, which cannot be removed");
  expect((await remove(nic.id)).status).toBe(204);
  notFound(await remove(nic.id));
  expect(await a.nicsOf(id)).toHaveLength(1);
  expect(await brokenInvariants(a.t.db)).toEqual([]);
  await a.destroy(id);
  expect(await a.left(before)).toEqual([]);
});

test("a NIC gets the addresses that the request names, and an address or MAC in use is refused", async () => {
  const before = await a.dump();
  const [one, two] = [await a.stopped(), await a.stopped()];
  const first = okOf(await add(one.id, { primary_ipv4: "10.0.2.77", mac: "02-AB-00-00-00-77" }));
  expect([first.primary_ipv4, first.mac]).toEqual(["10.0.2.77", "02:ab:00:00:00:77"]);
  const taken = (address: string) => `${address} of subnet ${back.id} is in use or reserved`;
  conflictWith(await add(two.id, { primary_ipv4: "10.0.2.77" }), taken("10.0.2.77"));
  conflictWith(await add(two.id, { primary_ipv4: "10.0.2.1" }), taken("10.0.2.1"));
  conflictWith(await add(two.id, { mac: "02:ab:00:00:00:77" }), "the MAC address is in use by another NIC");
  conflictWith(await add(one.id), "two NICs of the instance have the same name");
  const more = okOf(await add(two.id, { additional_ips: ["10.0.2.90", "10.0.2.91", "10.0.2.90"] }));
  expect(more.additional_ips).toEqual(["10.0.2.90", "10.0.2.91"]);
  conflictWith(await change(first.id, { additional_ips: ["10.0.2.91"] }), taken("10.0.2.91"));
  expect(okOf(await change(more.id, { additional_ips: ["10.0.2.90"] })).additional_ips).toEqual(["10.0.2.90"]);
  expect(okOf(await change(first.id, { additional_ips: ["10.0.2.91"] })).additional_ips).toEqual(["10.0.2.91"]);
  const found = okOf(await a.call("GET", `/v1/nics?ip=10.0.2.91&instance=${one.id}`)).items;
  expect(found.map((each: { id: string }) => each.id)).toEqual([first.id]);
  expect(await brokenInvariants(a.t.db)).toEqual([]);
  for (const { id } of [one, two]) await a.destroy(id);
  expect(await a.left(before)).toEqual([]);
});

test("the nodes of the VPC get additional addresses and allowed blocks of a NIC, even while the instance runs", async () => {
  const { id } = await a.running();
  const [nic] = await a.nicsOf(id);
  const changed = okOf(
    await change(nic.id, { additional_ips: ["10.0.1.200", "fd00:10:0:1::c8"], allowed_cidrs: ["10.0.9.7/24"] }),
  );
  expect(changed.allowed_cidrs).toEqual(["10.0.9.0/24"]);
  const poll = okOf(await a.node.call("POST", "/v1/agent/network/poll", { have: {}, wait: 0 }));
  const document = poll.vpcs.find((each: { vpc_id: string }) => each.vpc_id === a.vpc.id);
  const local = document.local_nics.find((each: { nic_id: string }) => each.nic_id === nic.id);
  expect(local.blocks).toEqual(["10.0.1.200/32", "fd00:10:0:1::c8/128", "10.0.9.0/24"]);
  expect(local.addresses).toEqual(["10.0.1.200", "fd00:10:0:1::c8"]);
  const other = await a.stopped();
  const [theirs] = await a.nicsOf(other.id);
  conflictWith(
    await change(theirs.id, { allowed_cidrs: ["10.0.9.128/25"] }),
    `allowed_cidrs overlap 10.0.9.0/24 of nic ${nic.id} in the same vpc`,
  );
  expect(okOf(await change(nic.id, { allowed_cidrs: [] })).additional_ips).toHaveLength(2);
  okOf(await change(theirs.id, { allowed_cidrs: ["10.0.9.128/25"] }));
  for (const each of [id, other.id]) await a.destroy(each);
});

test("a value that is malformed or outside the subnet or VPC is refused, and nothing is written", async () => {
  const { id } = await a.stopped();
  const before = await a.dump();
  await badRequest(add(id, { primary_ipv4: "10.0.3.9" }), `10.0.3.9 is not an address of subnet ${back.id}`);
  await badRequest(add(id, { primary_ipv6: "fd00:10:0:1::9" }), "fd00:10:0:1::9 is not an address of subnet");
  // 10.0.2.9, written as a mapped address.
  await badRequest(add(id, { primary_ipv6: "::ffff:a00:209" }), "::ffff:a00:209 is not an address of subnet");
  const [first] = await a.nicsOf(id);
  const far = "fd00:10:0:1:8000::1";
  await badRequest(change(first.id, { additional_ips: [far] }), `${far} is beyond the first 2^53 addresses of subnet`);
  await badRequest(add(id, { additional_ips: ["10.0.1.9"] }), `10.0.1.9 is not an address of subnet ${back.id}`);
  await badRequest(add(id, { allowed_cidrs: ["192.0.2.0/24"] }), "192.0.2.0/24 is not inside a block of the vpc");
  await badRequest(add(id, { allowed_cidrs: ["0.0.0.0/0"] }), "0.0.0.0/0 is not inside a block of the vpc");
  await badRequest(add(id, { allowed_cidrs: ["fd00:10::/64"] }), "fd00:10::/64 needs a NIC with an IPv6 address");
  await badRequest(add(id, { allowed_cidrs: Array(17).fill("10.0.9.0/24") }), "allowed_cidrs");
  await badRequest(add(id, { security: [] }), "security");
  notFound(await add(id, { subnet_id: randomUUID() }));
  notFound(await add(randomUUID()));
  conflictWith(await add(id, { mac: "01:00:00:00:00:01" }), expect.stringContaining("is a multicast address"));
  expect(await a.left(before)).toEqual([]);
  await a.destroy(id);
});

test("a NIC cannot be removed while a floating IP is attached to it", async () => {
  const { id } = await a.stopped();
  const nic = okOf(await add(id));
  const ip = okOf(await a.call("POST", `/v1/floating-ips${a.selectors}`, { body: { name: "www", family: "v4" } }));
  const attach = a.call("POST", `/v1/floating-ips/${ip.id}/attach`, { body: { nic_id: nic.id } });
  await a.node.done(attach, "fip_claim");
  conflictWith(
    await remove(nic.id),
    `floating ip www (${ip.id}) leads to NIC backend; detach or delete that first`,
  );
  await a.node.done(a.call("POST", `/v1/floating-ips/${ip.id}/detach`), "fip_release");
  expect((await remove(nic.id)).status).toBe(204);
  okOf(await a.call("DELETE", `/v1/floating-ips/${ip.id}`));
  await a.destroy(id);
});

test("a repeated request gets the first answer, even after the NIC was removed", async () => {
  const { id } = await a.stopped();
  const key = { "idempotency-key": randomUUID() };
  const first = okOf(await add(id, {}, key));
  expect(okOf(await add(id, {}, key))).toEqual(first);
  const gone = { "idempotency-key": randomUUID() };
  const twice = () => a.call("DELETE", `/v1/nics/${first.id}`, { headers: gone });
  expect([(await twice()).status, (await twice()).status]).toEqual([204, 204]);
  expect(okOf(await add(id, {}, key))).toEqual(first);
  expect(await a.nicsOf(id)).toHaveLength(1);
  await a.destroy(id);
});

test("the number of NICs of an instance, and the numbers of addresses and blocks of a NIC, are limited", async () => {
  const { id } = await a.stopped();
  const { name } = await a.show(id);
  const nics = [];
  for (let n = 0; n < EXTRA_NICS_MAX; n++) nics.push(okOf(await add(id, { name: `nic-${n}` })));
  conflictWith(
    await add(id, { name: "one-more" }),
    `${name} has ${EXTRA_NICS_MAX + 1} NICs, the maximum; remove one first`,
  );
  const nic = nics[0].id;
  const addresses = (count: number) => Array.from({ length: count }, (_, n) => `10.0.2.${200 + n}`);
  const blocks = (count: number) => Array.from({ length: count }, (_, n) => `10.0.2.${128 + 4 * n}/30`);
  await badRequest(change(nic, { additional_ips: addresses(ADDITIONAL_IPS_MAX + 1) }), "additional_ips");
  await badRequest(change(nic, { allowed_cidrs: blocks(ALLOWED_CIDRS_MAX + 1) }), "allowed_cidrs");
  const changed = okOf(await change(nic, { additional_ips: addresses(ADDITIONAL_IPS_MAX) }));
  expect(changed.additional_ips).toHaveLength(ADDITIONAL_IPS_MAX);
  const allowed = okOf(await change(nic, { allowed_cidrs: blocks(ALLOWED_CIDRS_MAX) }));
  expect(allowed.allowed_cidrs).toHaveLength(ALLOWED_CIDRS_MAX);
  await a.destroy(id);
});

test("a NIC is renamed in any state of its instance; the primary NIC keeps its name", async () => {
  const { id } = await a.stopped();
  const nic = okOf(await add(id));
  expect(okOf(await change(nic.id, { name: "database", labels: { tier: "db" } }))).toMatchObject({
    name: "database",
    labels: { tier: "db" },
    primary_ipv4: nic.primary_ipv4,
  });
  const primary = (await a.nicsOf(id)).find(({ name }: { name: string }) => name === "primary");
  conflictWith(await change(primary.id, { name: "first" }), "primary is the primary NIC, which cannot be renamed");
  expect(okOf(await change(primary.id, { name: "primary", labels: { tier: "web" } })).labels).toEqual({ tier: "web" });
  conflictWith(await change(nic.id, { name: "primary" }), "two NICs of the instance have the same name");
  okOf(await remove(nic.id));
});
