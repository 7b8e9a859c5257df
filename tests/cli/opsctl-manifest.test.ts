// Runs `opsctl apply`, `diff` and `export` of a site's manifest against a real control plane.
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { opsctlAt, type OpsctlRunner, serverOf } from "./at-control-plane.ts";
import type { FakeOptions, Server } from "./fake-environment.ts";

let t: TestControlPlane;
let at: OpsctlRunner;
beforeAll(async () => {
  t = await openTestControlPlane();
  at = opsctlAt(t);
});
afterAll(() => t.close());

/**
 * Returns a manifest with one silo. The names of its networks begin with `silo`, and its external subnet has the block
 * 203.0.`net`.0/24.
 */
const manifest = (silo: string, net: number) => `
silos:
  - { name: ${silo}, description: A customer }
tenants:
  - { silo: ${silo}, name: default, description: Head office }
  - { silo: ${silo}, name: web }
projects:
  - { silo: ${silo}, tenant: default, name: intern }
  - { silo: ${silo}, tenant: web, name: shop, description: The shop }
quotas:
  - { silo: ${silo}, tenant: web, cpu_limit: 16, memory_bytes: 64GiB, disk_bytes: 1TiB, instance_limit: 20 }
  - { silo: ${silo}, tenant: web, project: shop, cpu_limit: 8, memory_bytes: 32GiB, disk_bytes: 1TiB, instance_limit: 9 }
nic_tags:
  - { name: ${silo}-uplink, mtu: 1500 }
external_subnets:
  - { name: ${silo}-addresses, nic_tag: ${silo}-uplink, ipv4_block: 203.0.${net}.0/24, owner_silos: [${silo}] }
network_pools:
  - { name: ${silo}-pool, networks: [${silo}-addresses], owner_silos: [${silo}] }
settings:
  - { key: instance.create_wait_secs, value: ${100 + net} }
boot_policy:
  auto_enroll: ${net % 2 === 1}
`;
const RECORDS = 12;

const apply = (text: string, words = "", options: FakeOptions = {}) =>
  at.run(`apply -f - ${words}`.trim(), { typed: text, ...options });
const exported = async () => parse(await at.printed("export")) as Record<string, unknown[]>;

test("`apply` creates records after the records to which they refer, and a second run changes nothing", async () => {
  const text = manifest("acme", 2);
  const dry = await apply(text, "--dry-run");
  expect(dry.out()).toMatch(/^\+ silo acme\n\+ tenant acme\/default\n[^]*\n10 to create, 2 to change, 0 to replace, /);
  expect(okOf(await t.call("GET", "/v1/silos"))).toEqual([]);

  const made = await apply(text);
  expect(made.code, made.err()).toBe(0);
  const again = await apply(text);
  expect(again.out()).toBe(`0 to create, 0 to change, 0 to replace, 0 to delete, ${RECORDS} unchanged\n`);
  expect(again.asked.filter(({ method }) => method !== "GET")).toEqual([]);
  const tenants = await at.json<{ name: string; description: string }[]>("tenant list --silo acme");
  expect(tenants.map(({ name, description }) => [name, description])).toEqual([["default", "Head office"], [
    "web",
    "",
  ]]);
  expect(await at.json("quota show shop")).toMatchObject({ cpu_limit: 8, memory_bytes: 32 * 1024 ** 3 });
});

test("`apply` of an export of the site changes nothing", async () => {
  const site = await exported();
  expect(site).toMatchObject({
    silos: [{ name: "acme" }],
    // The server creates the default tenant together with the silo.
    tenants: [{ silo: "acme", name: "web" }],
    network_pools: [{ name: "acme-pool", networks: ["acme-addresses"], owner_silos: ["acme"] }],
    settings: expect.arrayContaining([{ key: "instance.create_wait_secs", value: 102 }]),
    boot_policy: { auto_enroll: false },
  });
  expect((await apply(JSON.stringify(site))).out()).toMatch(/^0 to create, 0 to change, 0 to replace, 0 to delete, /);
});

test("`diff` shows changes and deletions, and `apply --prune` deletes a record before the records that it refers to", async () => {
  const less = manifest("acme", 2).replace("A customer", "Our customer").replace("cpu_limit: 16", "cpu_limit: 24")
    .replace(/^network_pools:\n.*$/m, "network_pools: []").replace(/^ {2}- .*name: shop.*\n/m, "")
    .replace(/^ {2}- .*project: shop.*\n/m, "")
    // Removes the settings, so that --prune deletes no other setting of the test's control plane.
    .replace(/^settings:\n.*\n/m, "");
  const compared = await at.run("diff -f - --prune", { typed: less });
  expect(compared.code).toBe(1);
  expect(compared.out().trimEnd().split("\n")).toEqual([
    "~ silo acme",
    "    description: A customer -> Our customer",
    "~ quota acme/web",
    "    cpu_limit: 16 -> 24",
    "- network pool acme-pool",
    "- quota acme/web/shop",
    "- project acme/web/shop",
    `0 to create, 2 to change, 0 to replace, 3 to delete, ${RECORDS - 6} unchanged`,
  ]);
  expect((await apply(less, "--prune")).code).toBe(2);
  const done = await apply(less, "--prune --yes");
  expect(done.code, done.err()).toBe(0);
  expect((await at.run("diff -f - --prune", { typed: less })).code).toBe(0);
  expect((await exported()).network_pools).toBeUndefined();
});

test("`apply` sets and removes labels of projects, and keeps the labels of a project whose entry has no labels", async () => {
  const projects = (labels: string) =>
    `projects:\n  - { silo: acme, tenant: default, name: intern${labels === "" ? "" : `, labels: ${labels}`} }\n`;
  const shown = async () => {
    const { projects: found } = (await exported()) as { projects: Record<string, unknown>[] };
    return found.find(({ name }) => name === "intern")?.["labels"];
  };
  for (
    const [given, expected] of [
      ["{ team: web, env: test }", { team: "web", env: "test" }],
      ["", { team: "web", env: "test" }],
      ["{ team: shop }", { team: "shop" }],
      ["{}", undefined],
    ] as const
  ) {
    const done = await apply(projects(given));
    expect([done.code, done.err()]).toEqual([0, ""]);
    expect(await shown()).toEqual(expected);
  }
});

test("a NIC tag with another MTU, or an unknown silo, is refused before any change", async () => {
  const refused = await apply(manifest("acme", 2).replace("mtu: 1500", "mtu: 9000"));
  expect(refused.code).toBe(1);
  expect(refused.err()).toContain("NIC tag acme-uplink: mtu is 1500 and cannot become 9000");
  const lost = await apply("tenants: [{ silo: unknown, name: web }]");
  expect(lost.err()).toContain(
    "tenant unknown/web refers to silos unknown, which is neither in the manifest nor in the site",
  );
  expect([...refused.asked, ...lost.asked].filter(({ method }) => method !== "GET")).toEqual([]);
});

test("`apply` has the same result if it loses the response to a change and is run again", async () => {
  const whole = await apply(manifest("whole", 101));
  expect(whole.code, whole.err()).toBe(0);
  const changes = whole.asked.filter(({ method }) => method !== "GET").length;
  expect(changes).toBe(RECORDS);
  for (let allowed = 0; allowed < changes; allowed += 3) {
    const text = manifest(`cut${allowed}`, 102 + allowed);
    const cut = await apply(text, "", { server: losingAfter(allowed) });
    expect(cut.code).not.toBe(0);
    const rest = await apply(text);
    expect(rest.code, rest.err()).toBe(0);
    expect((await at.run("diff -f -", { typed: text })).code).toBe(0);
  }
});

/**
 * Returns a server that answers this number of changes, and carries out the next change but loses its response. Further
 * changes do not reach the control plane.
 */
function losingAfter(allowed: number): Server {
  const server = serverOf(t);
  let changes = 0;
  return async (asked, signal) => {
    if (asked.method === "GET") return await server(asked, signal);
    if (changes > allowed) throw new TypeError("fetch failed");
    const answer = await server(asked, signal);
    if (++changes > allowed) throw new TypeError("fetch failed");
    return answer;
  };
}

test("if `apply` stops, the error names the record, and states what was applied and what was not", async () => {
  const ran = await apply("silos:\n  - { name: fine }\ntenants:\n  - { silo: fine, name: a/b }\n");
  expect(ran.code).not.toBe(0);
  expect(ran.err()).toMatch(/^error: tenant fine\/a\/b: .*\n/);
  expect(ran.err()).toMatch(
    /\nApplied: 1 created, 0 changed, 0 replaced, 0 deleted; not applied: tenant fine\/a\/b\n$/,
  );
});
