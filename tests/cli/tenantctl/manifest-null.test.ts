// Tests fields with the value null in a manifest, with a real control plane. Null means the server's default.
import { afterAll, beforeAll, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { openTenant, type TestTenant } from "../../tenancy/tenant.ts";
import { runAsTenant } from "./at-tenant.ts";

let t: TestControlPlane;
let tenant: TestTenant;
beforeAll(async () => {
  t = await openTestControlPlane();
  tenant = await openTenant(t);
});
afterAll(() => t?.close());

/** Applies a manifest twice. The second run must change nothing. */
async function applyTwice(manifest: Readonly<Record<string, unknown>>): Promise<void> {
  const text = JSON.stringify(manifest);
  const first = await runAsTenant({ t, tenant }, "apply -f - -o table", text);
  expect(first.code, first.err()).toBe(0);
  const again = await runAsTenant({ t, tenant }, "diff -f -", text);
  expect(again.code, again.out() + again.err()).toBe(0);
}

const NET = { name: "main", ipv4_block: "10.0.0.0/16", ipv6_block: null };

test("a second run changes nothing if the manifest has null for each optional field", async () => {
  await applyTwice({
    vpcs: [{ ...NET, description: null, labels: null }],
    nat_gateways: [{ vpc: "main", name: "out", family: null, network_id: null, pool_id: null }],
    floating_ips: [{ name: "www", family: null, attached_to: null }],
    route_tables: [{ vpc: "main", name: "own", description: null, labels: null }],
    subnets: [{ vpc: "main", name: "front", ipv4_block: "10.0.1.0/24", ipv6_block: null }],
    placement_groups: [{ name: "apart", policy: null, level: null, strictness: null }],
  });
});

test("the protocol null of a firewall rule means any protocol", async () => {
  const rule = { vpc: "main", name: "ssh", priority: 100, direction: "inbound", action: "allow" };
  const ports = { source_ports: null, destination_ports: { low: 22, high: 22 } };
  const open = { source_cidr: null, destination_cidr: null, icmp_type_code: null };
  const of = (fields: object) => ({ vpcs: [NET], firewall_rules: [{ ...rule, ...open, ...fields }] });
  await applyTwice(of({ ...ports, protocol: "tcp" }));
  await applyTwice(of({ destination_ports: null, protocol: null }));
  const [vpc] = okOf(await tenant.call("GET", `/v1/vpcs${tenant.selectors}`)).items;
  const path = `/v1/firewall-rules?vpc=${vpc.id}`;
  expect(okOf(await tenant.call("GET", path)).items).toMatchObject([{ protocol: "any", destination_ports: null }]);
});
