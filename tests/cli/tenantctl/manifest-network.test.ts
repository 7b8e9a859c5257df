// Tests NAT gateways with addresses of external subnets in a manifest, with a real control plane.
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { makeNetwork, makePool } from "../../network/public-addresses.ts";
import { openTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { openTenant, type TestTenant } from "../../tenancy/tenant.ts";
import { runAsTenant } from "./at-tenant.ts";
import type { Ran } from "./run.ts";

let t: TestControlPlane;
let tenant: TestTenant;
beforeAll(async () => {
  t = await openTestControlPlane();
  tenant = await openTenant(t);
});
afterAll(() => t?.close());

function run(line: string, typed?: string): Promise<Ran> {
  return runAsTenant({ t, tenant }, line, typed);
}

type Named = { readonly name: string };
const byName = (one: Named, two: Named) => one.name < two.name ? -1 : 1;

test("a gateway gets its address from the network or the pool of the manifest, and an export can create it again", async () => {
  const network = await makeNetwork(t, { ipv4_block: "198.51.100.0/28", ipv6_block: "2001:db8:e::/64" });
  const pool = await makePool(t, [network.id]);
  const manifest = JSON.stringify({
    vpcs: [{ name: "main", ipv4_block: "10.0.0.0/16" }],
    nat_gateways: [
      { vpc: "main", name: "fixed", family: "v4" },
      { vpc: "main", name: "of-network", network_id: network.id.toUpperCase() },
      { vpc: "main", name: "of-pool", pool_id: pool },
      { vpc: "main", name: "six", family: "v6", network_id: network.id },
    ],
  });
  const made = await run("apply -f - -o table", manifest);
  expect(made.code, made.err()).toBe(0);
  const exported = (await run("export")).out();
  expect(parse(exported).nat_gateways.toSorted(byName)).toEqual([
    { vpc: "main", name: "fixed", family: "v4" },
    { vpc: "main", name: "of-network", family: "v4", network_id: network.id },
    { vpc: "main", name: "of-pool", family: "v4", network_id: network.id },
    { vpc: "main", name: "six", family: "v6", network_id: network.id },
  ]);
  expect((await run("diff -f -", manifest)).code).toBe(0);
  expect((await run("diff -f -", exported)).code).toBe(0);
  const other = await run("apply -f -", exported.replace(network.id, pool));
  expect(other.err()).toContain(`network_id is ${network.id} and cannot become ${pool}`);
  const ip = `floating-ip create --name www --network ${network.id}`;
  expect((await run(ip)).code).toBe(0);
  expect((await run("export")).err()).toBe(
    "warning: the export leaves out the external subnets of the floating IPs www\n",
  );
  const both = { vpc: "main", name: "six", description: "new", network_id: network.id, pool_id: pool };
  const twice = await run("apply -f -", JSON.stringify({ nat_gateways: [both] }));
  expect([twice.code, twice.err()]).toEqual([
    1,
    "error: NAT gateway main/six: set at most one of network_id and pool_id\n",
  ]);
});
