// Tests how `apply` of a manifest replaces routes, with a real control plane.
import { afterAll, beforeAll, expect, test } from "vitest";
import { EXIT } from "../../../cli/internal/exit-code.ts";
import { openTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { openTenant, type TestTenant } from "../../tenancy/tenant.ts";
import { runAsTenant } from "./at-tenant.ts";

let t: TestControlPlane;
let tenant: TestTenant;
beforeAll(async () => {
  t = await openTestControlPlane();
  tenant = await openTenant(t);
  await printed("vpc create --name main --ipv4-block 10.0.0.0/16");
  await printed("nat-gateway create --vpc main --name out");
});
afterAll(() => t?.close());

async function run(argv: string, typed = "") {
  const ran = await runAsTenant({ t, tenant }, argv, typed);
  return { code: ran.code, out: ran.out(), err: ran.err() };
}

async function printed(argv: string): Promise<string> {
  const ran = await run(argv);
  expect(ran.code, ran.err).toBe(0);
  return ran.out;
}

const AT = "--vpc main --route-table main";

const applied = (name: string, destination: string, rest: string) =>
  run(
    "apply -f -",
    `routes: [{ vpc: main, route_table: main, name: ${name}, destination: "${destination}", ${rest} }]`,
  );

/** Creates a route with a description and a label. */
async function newRoute(name: string, destination: string): Promise<void> {
  const ran = await applied(name, destination, "target: { kind: blackhole }, description: kept, labels: { by: cli }");
  expect(ran.code, ran.err).toBe(0);
}

const shown = async (name: string) => JSON.parse(await printed(`route show ${name} ${AT} -o json`));
const KEPT = { description: "kept", labels: { by: "cli" } };

test("a replaced route keeps the description and the labels that the manifest leaves out", async () => {
  await newRoute("a", "10.8.0.0/16");
  const ran = await applied("a", "10.8.0.0/16", "target: { kind: nat_gateway, nat_gateway: out }");
  expect(ran.code, ran.err).toBe(0);
  expect(await shown("a")).toMatchObject({ ...KEPT, target: { kind: "nat_gateway" } });
});

test("a replaced route loses the description that the manifest sets to null", async () => {
  await newRoute("b", "10.9.0.0/16");
  const ran = await applied("b", "10.9.0.0/16", "target: { kind: reject }, description: null");
  expect(ran.code, ran.err).toBe(0);
  expect(await shown("b")).toMatchObject({ description: "", labels: { by: "cli" }, target: { kind: "reject" } });
});

test.each([
  ["c", "target: { kind: nonsense }", "the kind of the target must be one of blackhole, reject,"],
  ["d", "target: { kind: nat_gateway }", "a target of the kind nat_gateway must have the field nat_gateway"],
  ["e", "target: { kind: reject, floating_ip: x }", "a target of the kind reject has no field floating_ip"],
])(
  "a target that cannot be created is a problem of the plan, and the route stays: %s %s",
  async (name, target, why) => {
    const destination = `10.10.${name.codePointAt(0)}.0/24`;
    await newRoute(name, destination);
    const before = await shown(name);
    const ran = await applied(name, destination, target);
    expect(ran).toMatchObject({ code: EXIT.failure, out: "" });
    expect(ran.err).toContain(why);
    expect(await shown(name)).toEqual(before);
  },
);

test("if the server refuses the new values, the old route is created again", async () => {
  await newRoute("f", "10.11.0.0/16");
  const { id: _, created_at: __, realized: ___, ...before } = await shown("f");
  const ran = await applied("f", "::/0", "target: { kind: nat_gateway, nat_gateway: out }");
  expect(ran.code).not.toBe(0);
  expect(ran.err).toMatch(/^error: route main\/main\/f: /);
  expect(await shown("f")).toMatchObject(before);
});
