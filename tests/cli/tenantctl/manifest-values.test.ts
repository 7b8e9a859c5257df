// Tests that `apply` of a manifest refuses values that the server would refuse, before it changes anything.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ComputeFixture, openComputeFixture } from "../../compute/compute-fixture.ts";
import { serverOf } from "../at-control-plane.ts";
import { ENDPOINT } from "../fake-environment.ts";
import { tenantctl } from "./run.ts";

let a: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture();
  await a.running({ name: "old" });
  await a.newImage({ name: "debian" });
  const ran = await applied(`
vpcs: [{ name: main, ipv4_block: 10.0.0.0/16 }]
routes: [{ vpc: main, route_table: main, name: drop, destination: 10.1.0.0/16, target: { kind: blackhole } }]
subnets: [{ vpc: main, name: front, ipv4_block: 10.0.1.0/24 }]
floating_ips: [{ name: www }]
`);
  expect(ran.code, ran.err()).toBe(0);
});
afterAll(() => a?.t.close());

function applied(typed: string) {
  return tenantctl(["apply", "-f", "-", "-o", "table"], {
    env: {
      TENANTCTL_ENDPOINT: ENDPOINT,
      TENANTCTL_API_KEY: a.tenant.key,
      TENANTCTL_TENANT: a.tenant.tenant_id,
      TENANTCTL_PROJECT: a.tenant.project_id,
      NO_COLOR: "1",
    },
    server: serverOf(a.t),
    newId: randomUUID,
    isTTY: false,
    typed,
  });
}

const ROUTE = "vpc: main, route_table: main, name: drop, destination: 10.1.0.0/16";
const INSTANCE = "name: new, image: debian, vpc: main, primary_subnet: front, cpu: 1, memory_bytes: 1GiB";
const NAMES = "attached_to must have the names of an instance and a NIC, as in { instance: web1, nic: primary }";
const EXTRA = "each of extra_nics must have the two fields subnet and name, both texts, and no other field";

test.each([
  [
    "subnets: [{ vpc: main, name: front, route_table: null }]",
    "subnet main/front: route_table must be the name of a route table; the first one of a VPC is main",
  ],
  [
    "subnets: [{ vpc: main, name: back, ipv4_block: 10.0.2.0/24, route_table: null }]",
    "subnet main/back: route_table must be the name of a route table; the first one of a VPC is main",
  ],
  ["floating_ips: [{ name: www, attached_to: {} }]", `floating IP www: ${NAMES}`],
  ["floating_ips: [{ name: www, attached_to: { nic: nic1 } }]", `floating IP www: ${NAMES}`],
  ["floating_ips: [{ name: www, attached_to: { instance: 7 } }]", `floating IP www: ${NAMES}`],
  ["floating_ips: [{ name: new, attached_to: { instance: old, nic: null } }]", `floating IP new: ${NAMES}`],
  [
    "floating_ips: [{ name: www, attached_to: { instance: old, foo: 1 } }]",
    "floating IP www: attached_to has no field foo; its fields are instance and nic",
  ],
  [
    "floating_ips: [{ name: www, attached_to: { instance: old, nic: nic1 } }]",
    "floating IP www: instance old has no NIC nic1; it has primary",
  ],
  [
    `{ floating_ips: [{ name: www, attached_to: { instance: new, nic: nic1 } }],
       instances: [{ ${INSTANCE}, extra_nics: [{ subnet: front, name: nic2 }] }] }`,
    "floating IP www: instance new has no NIC nic1; it has primary, nic2",
  ],
  [
    "nat_gateways: [{ vpc: main, name: out, family: v4, network_id: x, pool_id: y }]",
    "NAT gateway main/out: set at most one of network_id and pool_id",
  ],
  [`instances: [{ ${INSTANCE}, extra_nics: [{ name: nic1 }] }]`, `instance new: ${EXTRA}`],
  [`instances: [{ ${INSTANCE}, extra_nics: [{ subnet: front, name: nic1, mac: x }] }]`, `instance new: ${EXTRA}`],
  [
    `routes: [{ ${ROUTE}, target: { kind: floating_ip, floating_ip: www } }]`,
    "route main/main/drop: the kind of the target must be one of blackhole, reject, virtual_gateway, nat_gateway",
  ],
])("the manifest %s is refused before any change", async (text, problem) => {
  const ran = await applied(text);
  expect(ran.asked.filter(({ method }) => method !== "GET")).toEqual([]);
  expect([ran.code, ran.err()]).toEqual([1, `error: ${problem}\n`]);
});
