// Tests `apply` of a manifest that conflicts with a record of the project: two routes have the same destination, or the
// blocks of two subnets overlap.
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { openTenant, type TestTenant } from "../../tenancy/tenant.ts";
import { runAsTenant } from "./at-tenant.ts";
import type { Ran } from "./run.ts";

const PRUNE = "apply -f - -o table --prune --yes";

let t: TestControlPlane;
let tenant: TestTenant;
beforeAll(async () => {
  t = await openTestControlPlane();
  tenant = await openTenant(t);
});
afterAll(() => t?.close());

function run(argv: string, typed = ""): Promise<Ran> {
  return runAsTenant({ t, tenant }, argv, typed);
}

async function done(argv: string, typed = ""): Promise<string> {
  const ran = await run(argv, typed);
  expect(ran.code, ran.err()).toBe(0);
  return ran.out();
}

/** Applies a manifest. The command must report exactly this problem, and must send only reads. */
async function refused(text: string, problem: string): Promise<void> {
  const ran = await run(PRUNE, text);
  expect(ran.asked.filter(({ method }) => method !== "GET")).toEqual([]);
  expect([ran.code, ran.err()]).toEqual([1, `error: ${problem}\n`]);
}

/** Creates a VPC with these records. */
async function newVpc(vpc: string, lists: string): Promise<void> {
  await done(
    "apply -f -",
    `{ vpcs: [{ name: ${vpc}, ipv4_block: 10.0.0.0/16, ipv6_block: "fd00:1::/48" }], ${lists} }`,
  );
}

const blackhole = (vpc: string, name: string, destination: string) =>
  `{ vpc: ${vpc}, route_table: main, name: ${name}, destination: ${destination}, target: { kind: blackhole } }`;

test("a route with another name and the same destination is refused, and can be renamed", async () => {
  await newVpc("a", `routes: [${blackhole("a", "default", "0.0.0.0/0")}]`);
  const renamed = `routes: [${blackhole("a", "web", "0.0.0.0/0")}]`;
  const command = "tenantctl route update default --vpc a --route-table main --name web";
  const where = "route a/main/default has the destination 0.0.0.0/0";
  await refused(renamed, `route a/main/web: ${where}; rename it first with \`${command}\`, or delete it`);
  await done(command.replace("tenantctl ", ""));
  expect(await done(PRUNE, renamed)).toMatch(/^0 to create, 0 to change, 0 to replace, 0 to delete, 1 unchanged\n/);
});

test("a manifest that exchanges the destinations of two routes is refused", async () => {
  const [one, two] = ["10.1.0.0/16", "10.2.0.0/16"] as const;
  await newVpc("b", `routes: [${blackhole("b", "one", one)}, ${blackhole("b", "two", two)}]`);
  await refused(
    `routes: [${blackhole("b", "one", two)}, ${blackhole("b", "two", one)}]`,
    `route b/main/one: route b/main/two has the destination ${two}; change or delete it first\n` +
      `route b/main/two: route b/main/one has the destination ${one}; change or delete it first`,
  );
});

test("a changed route is refused if it needs the destination of a route that the run would delete", async () => {
  const [kept, surplus] = ["10.1.0.0/16", "10.2.0.0/16"] as const;
  await newVpc("f", `routes: [${blackhole("f", "kept", kept)}, ${blackhole("f", "surplus", surplus)}]`);
  await refused(
    `routes: [${blackhole("f", "kept", surplus)}]`,
    `route f/main/kept: route f/main/surplus has the destination ${surplus}; change or delete it first`,
  );
});

test("the command that renames a record quotes names with spaces", async () => {
  await newVpc("g", `routes: [${blackhole("g", "to the internet", "0.0.0.0/0")}]`);
  await refused(
    `routes: [${blackhole("g", "web", "0.0.0.0/0")}]`,
    "route g/main/web: route g/main/to the internet has the destination 0.0.0.0/0; rename it first with " +
      "`tenantctl route update 'to the internet' --vpc g --route-table main --name web`, or delete it",
  );
});

test("a subnet with another name and the same blocks is refused, and can be renamed", async () => {
  const subnet = (name: string) =>
    `subnets: [{ vpc: c, name: ${name}, ipv4_block: 10.0.1.0/24, ipv6_block: "fd00:1:0:1::/64" }]`;
  await newVpc("c", subnet("front"));
  const command = "tenantctl subnet update front --vpc c --name web";
  const where = "subnet c/front has the ipv4_block 10.0.1.0/24";
  await refused(subnet("web"), `subnet c/web: ${where}; rename it first with \`${command}\`, or delete it`);
  await done(command.replace("tenantctl ", ""));
  expect(await done(PRUNE, subnet("web"))).toMatch(/^0 to create, .* 0 to delete, 1 unchanged\n/);
});

test("a subnet whose block contains the block of another subnet is refused, but not in another VPC", async () => {
  await newVpc("d", `subnets: [{ vpc: d, name: front, ipv6_block: "fd00:1:0:8::/64" }]`);
  await refused(
    `subnets: [{ vpc: d, name: wide, ipv6_block: "fd00:1:0:8::/62" }]`,
    "subnet d/wide: subnet d/front has the ipv6_block fd00:1:0:8::/64, which overlaps fd00:1:0:8::/62; delete it first",
  );
  await newVpc("e", `subnets: [{ vpc: e, name: wide, ipv6_block: "fd00:1:0:8::/62" }]`);
});
