// Tests `apply`, `diff` and `export` of a manifest with a real control plane. The test acts as the node.
import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type ComputeFixture, openComputeFixture } from "../../compute/compute-fixture.ts";
import { okOf } from "../../support/control-plane.ts";
import { openTenant, type TestTenant } from "../../tenancy/tenant.ts";
import { serverOf } from "../at-control-plane.ts";
import { ENDPOINT, fakeEnvironment, type FakeOptions, type Server } from "../fake-environment.ts";
import { type Ran, tenantctl } from "./run.ts";

const RESOURCES = 50;
const LIMIT_MS = 5_000;

const NETWORK = `
vpcs:
  - { name: main, ipv4_block: 10.0.0.7/16 }
nat_gateways:
  - { vpc: main, name: out }
route_tables:
  - { vpc: main, name: public, description: To the internet }
routes:
  - { vpc: main, route_table: public, name: default, destination: 0.0.0.0/0, target: { kind: nat_gateway, nat_gateway: out } }
subnets:
  - { vpc: main, name: front, ipv4_block: 10.0.1.0/24, route_table: public }
  - { vpc: main, name: back, ipv4_block: 10.0.2.0/24 }
firewall_rules:
  - { vpc: main, name: web, priority: 100, direction: inbound, action: allow, protocol: tcp,
      destination_ports: { low: 80, high: 443 } }
floating_ips:
  - { name: www }
`;

let a: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture();
});
afterAll(() => a?.t.close());

function envOf({ key, tenant_id, project_id }: Pick<TestTenant, "key" | "tenant_id" | "project_id">) {
  return {
    TENANTCTL_ENDPOINT: ENDPOINT,
    TENANTCTL_API_KEY: key,
    TENANTCTL_TENANT: tenant_id,
    TENANTCTL_PROJECT: project_id,
    NO_COLOR: "1",
  };
}

type Shell = {
  run(argv: string, options?: FakeOptions): Promise<Ran>;
  apply(text: string, words?: string, options?: FakeOptions): Promise<Ran>;
  exported(): Promise<Record<string, unknown[]>>;
};

function shellOf(tenant: Pick<TestTenant, "key" | "tenant_id" | "project_id">): Shell {
  const run: Shell["run"] = (argv, options) =>
    tenantctl(argv.split(" "), {
      env: envOf(tenant),
      server: serverOf(a.t),
      newId: randomUUID,
      isTTY: false,
      ...options,
    });
  return {
    run,
    apply: (text, words = "", options) => run(`apply -f - -o table ${words}`.trim(), { typed: text, ...options }),
    exported: async () => {
      const ran = await run("export");
      expect(ran.code, ran.err()).toBe(0);
      return parse(ran.out()) ?? {};
    },
  };
}

async function newShell(name: string): Promise<Shell> {
  return shellOf(await openTenant(a.t, name));
}

describe("apply", () => {
  test("creates records after the records to which they refer, and a second run changes nothing", async () => {
    const shell = await newShell("order");
    const dry = await shell.apply(NETWORK, "--dry-run");
    expect(dry.out()).toMatch(
      /^\+ VPC main\n[^]*\n8 to create, 0 to change, 0 to replace, 0 to delete, 0 unchanged\n$/,
    );
    expect(await shell.exported()).toEqual({});

    const made = await shell.apply(NETWORK);
    expect(made.code, made.err()).toBe(0);
    expect(made.out()).toContain("Applied: 8 created, 0 changed, 0 replaced, 0 deleted, 0 unchanged");
    expect(await shell.exported()).toMatchObject({
      vpcs: [{ name: "main", ipv4_block: "10.0.0.0/16" }],
      routes: [{ route_table: "public", target: { kind: "nat_gateway", nat_gateway: "out" } }],
      subnets: [{ name: "back", route_table: "main" }, { name: "front", route_table: "public" }],
    });
    const again = await shell.apply(NETWORK);
    expect(again.out()).toBe("0 to create, 0 to change, 0 to replace, 0 to delete, 8 unchanged\n");
    expect(again.asked.filter(({ method }) => method !== "GET")).toEqual([]);
  });

  test("names the record whose request fails, and says what was applied and what was not", async () => {
    const shell = await newShell("stops");
    const outside = NETWORK.replace("10.0.2.0/24", "10.9.0.0/24");
    const ran = await shell.apply(outside);
    expect(ran.code).not.toBe(0);
    expect(ran.err()).toMatch(
      /^error: subnet main\/back: .*\nApplied: [456] created, 0 changed, 0 replaced, 0 deleted; not applied: /,
    );
    expect(ran.err()).toMatch(/; not applied: .*subnet main\/back, firewall rule main\/web/);
    const data = await shell.run("apply -f - -o json", { typed: outside });
    expect(JSON.parse(data.err()).error.message).toContain("\nApplied: ");
    expect((await shell.apply(NETWORK)).code).toBe(0);
  });

  test("sets, changes and removes labels, and keeps the labels of a record without labels in the manifest", async () => {
    const shell = await newShell("labels");
    const labelled = NETWORK.replace("name: main, ipv4", "name: main, labels: { env: test, tier: web }, ipv4");
    expect((await shell.apply(labelled)).code).toBe(0);
    expect((await shell.exported()).vpcs).toEqual([
      { name: "main", labels: { env: "test", tier: "web" }, ipv4_block: "10.0.0.0/16" },
    ]);
    expect((await shell.apply(NETWORK)).out()).toContain("0 to change");
    const changed = labelled.replace("env: test, tier: web", "env: live");
    const compared = await shell.run("diff -f - -o table", { typed: changed });
    expect(compared.out()).toContain('    labels: {"env":"test","tier":"web"} -> {"env":"live"}');
    expect((await shell.apply(changed)).code).toBe(0);
    expect((await shell.exported()).vpcs).toMatchObject([{ labels: { env: "live" } }]);
    expect((await shell.apply(changed)).out()).toContain("0 to change");
    expect((await shell.apply(labelled.replace("{ env: test, tier: web }", "{}"))).code).toBe(0);
    expect((await shell.exported()).vpcs).toEqual([{ name: "main", ipv4_block: "10.0.0.0/16" }]);
  });

  test("changes and replaces records, and deletes records with --prune", async () => {
    const shell = await newShell("change");
    expect((await shell.apply(NETWORK)).code).toBe(0);
    const changed = NETWORK
      .replace("To the internet", "Outward")
      .replace("high: 443", "high: 80")
      .replace("name: back, ipv4_block: 10.0.2.0/24", "name: inner, ipv4_block: 10.0.3.0/24");
    const compared = await shell.run("diff -f - -o table --prune", { typed: changed });
    expect(compared.code).toBe(1);
    expect(compared.out().trimEnd().split("\n")).toEqual([
      "~ route table main/public",
      "    description: To the internet -> Outward",
      "+ subnet main/inner",
      "~ firewall rule main/web",
      '    destination_ports: {"high":443,"low":80} -> {"high":80,"low":80}',
      "- subnet main/back",
      "1 to create, 2 to change, 0 to replace, 1 to delete, 5 unchanged",
    ]);
    const unasked = await shell.apply(changed, "--prune");
    expect([unasked.code, unasked.out()]).toEqual([2, ""]);
    expect((await shell.apply(changed, "--prune --yes")).code).toBe(0);
    expect((await shell.run("diff -f - --prune", { typed: changed })).code).toBe(0);
    expect((await shell.exported()).subnets).toMatchObject([{ name: "front" }, { name: "inner" }]);
  });

  test("changes nothing if a field cannot be changed or if a reference is unknown", async () => {
    const shell = await newShell("refused");
    expect((await shell.apply(NETWORK)).code).toBe(0);
    const before = await shell.exported();
    const refused = await shell.apply(`${NETWORK.replace("10.0.0.7/16", "10.9.0.0/16")}  - { name: more }\n`);
    expect(refused.code).toBe(1);
    expect(refused.err()).toContain("VPC main: ipv4_block is 10.0.0.0/16 and cannot become 10.9.0.0/16");
    const lost = await shell.apply("subnets: [{ vpc: none, name: x, ipv4_block: 10.0.4.0/24 }]");
    expect(lost.err()).toContain("subnet none/x refers to vpcs none");
    expect(await shell.exported()).toEqual(before);
  });

  test.each([
    ["vpcs: [{ name: a, ipv4: 10.0.0.0/8 }]", "vpcs[0]: unknown field ipv4"],
    ["networks: []", "unknown list networks"],
    ["vpcs: [{ ipv4_block: 10.0.0.0/8 }]", "vpcs[0]: name is missing"],
    ["vpcs: [{ name: a, ipv4_block: ten }]", "vpcs[0]: ipv4_block must be a block"],
    ["vpcs: [{ name: a }, { name: a }]", "two vpcs with the name a"],
    ["vpcs: [", "is not valid YAML"],
    ["vpcs:\n  - name: a\n   ipv4_block: x\n", "at line 3, column 1\n"],
  ])("refuses the manifest %s before any request", async (text, message) => {
    const ran = await shellOf({ key: "k", tenant_id: randomUUID(), project_id: randomUUID() }).apply(text);
    expect([ran.code, ran.asked]).toEqual([2, []]);
    expect(ran.err()).toContain(message);
  });

  test("has the same result if it is interrupted after any change and run again", async () => {
    const whole = await newShell("whole");
    const done = await whole.apply(NETWORK);
    const changes = done.asked.filter(({ method }) => method !== "GET").length;
    expect(changes).toBeGreaterThan(8);
    const expected = await whole.exported();
    for (let allowed = 0; allowed < changes; allowed++) {
      const shell = await newShell(`cut-${allowed}`);
      const cut = await shell.apply(NETWORK, "", { server: losingAfter(allowed) });
      expect(cut.code).not.toBe(0);
      const rest = await shell.apply(NETWORK);
      expect(rest.code, rest.err()).toBe(0);
      expect(withoutOrder(await shell.exported())).toEqual(withoutOrder(expected));
    }
  });

  test("creates 50 records within 5 s", async () => {
    const shell = await newShell("fifty");
    const subnets = Array.from(
      { length: RESOURCES - 1 },
      (_, at) => `  - { vpc: big, name: s${at}, ipv4_block: 10.0.${at}.0/24 }`,
    );
    const text = `vpcs: [{ name: big, ipv4_block: 10.0.0.0/16 }]\nsubnets:\n${subnets.join("\n")}\n`;
    const begin_ms = performance.now();
    const ran = await shell.apply(text);
    const took_ms = performance.now() - begin_ms;
    expect(ran.out()).toContain(`Applied: ${RESOURCES} created`);
    expect(took_ms).toBeLessThan(LIMIT_MS);
  });
});

test("`apply` of a folder creates an instance with its disk and address, and `export` prints the same records", async () => {
  const shell = shellOf(a.tenant);
  await a.newImage({ name: "debian" });
  await shell.run(`vpc update ${a.vpc.id} --name net`);
  const folder = join(fakeEnvironment().home_dir, "shop");
  await mkdir(folder);
  const instance = { name: "web", image: "debian", vpc: "net", primary_subnet: "front", cpu: 2, memory_bytes: "4GiB" };
  await writeFile(join(folder, "web.json"), JSON.stringify({ instances: [instance] }));
  await writeFile(join(folder, "address.yaml"), "floating_ips:\n- { name: www, attached_to: { instance: web } }\n");
  const job = async () => {
    await a.node.does("provision");
    await a.node.does("fip_claim");
  };
  const [made] = await Promise.all([shell.run(`apply -f ${folder} -o table`), job()]);
  expect(made.code, made.err()).toBe(0);
  const exported = await shell.exported();
  expect(exported.instances).toMatchObject([{ ...instance, memory_bytes: 4 * 1024 ** 3 }]);
  expect(exported.floating_ips).toMatchObject([{ name: "www", attached_to: { instance: "web", nic: "primary" } }]);
  expect((await shell.run(`diff -f ${folder}`)).code).toBe(0);
  const same = await shell.apply(JSON.stringify(exported));
  expect(same.out()).toMatch(/^0 to create, 0 to change, 0 to replace, 0 to delete, [0-9]+ unchanged\n$/);
});

test("`export` contains the protection and the placement group of an instance, and a warning names the records that it leaves out", async () => {
  const shell = shellOf(a.tenant);
  await a.newImage({ name: "small" });
  await shell.run(`vpc update ${a.vpc.id} --name net`);
  const size = { cpu: 1, memory_bytes: 2 ** 30 };
  const at = { image: "small", vpc: "net", primary_subnet: "front", placement_group: "apart" };
  const instance = { name: "kept", ...at, ...size, deletion_protection: true };
  const groups = [{ name: "apart", policy: "anti_affinity", level: "node", strictness: "preferred" }];
  const gateways = [{ vpc: "net", name: "out", family: "v4" }];
  const text = JSON.stringify({ nat_gateways: gateways, placement_groups: groups, instances: [instance] });
  const [made] = await Promise.all([shell.apply(text), a.node.does("provision")]);
  expect(made.code, made.err()).toBe(0);
  const before = await shell.run("export");
  expect([before.code, before.err()]).toEqual([0, ""]);
  const to_nic = "--nic primary --instance kept --vpc net --nat-gateway out --port 443";
  expect((await shell.run(`port-forward create --name https ${to_nic}`)).code).toBe(0);
  await Promise.all([
    shell.run("disk create --name data --instance kept --size 3GiB"),
    a.node.does("create_disk"),
  ]);

  const after = await shell.run("export");
  expect(after.err()).toBe("warning: the export leaves out port forwards net/https; data disks kept/data\n");
  const exported = parse(after.out());
  expect(exported.placement_groups).toEqual(groups);
  expect(exported.instances).toContainEqual(expect.objectContaining(instance));
  expect((await shell.run("diff -f -", { typed: after.out() })).code).toBe(0);

  const others = exported.instances.filter(({ name }: { name: string }) => name !== "kept");
  const refused = await shell.apply(JSON.stringify({ instances: others }), "--prune --yes");
  expect(refused.err()).toContain("kept is protected against deletion; first run: tenantctl instance update kept");
  const shown = JSON.parse((await shell.run("instance show kept -o json")).out());
  expect([shown.lifecycle.state, shown.deletion_protection]).toEqual(["running", true]);
  const off = `instances: ${JSON.stringify([{ ...instance, deletion_protection: false }])}`;
  expect((await shell.run("diff -f - -o table", { typed: off })).out()).toContain(
    "    deletion_protection: true -> false",
  );
  expect((await shell.apply(off)).code).toBe(0);
  expect((await shell.run("diff -f -", { typed: off })).code).toBe(0);
  const moved = await shell.apply(off.replace("apart", "elsewhere"));
  expect(moved.err()).toContain("instance kept refers to placement_groups elsewhere, which is neither in");
});

test("`apply` refuses an instance if two images have the name of the instance's image", async () => {
  const shell = shellOf(a.tenant);
  await shell.run(`vpc update ${a.vpc.id} --name net`);
  const ids = [(await a.newImage({ name: "twice" })).id];
  const path = `/v1/tenants/${a.tenant.tenant_id}/projects/${a.tenant.project_id}/images`;
  const body = {
    ...{ name: "twice", os: "linux", version: "1", size_bytes: 2 ** 30, sha256: "ab".repeat(32) },
    source_url: "https://images.example/other",
  };
  ids.push(okOf(await a.call("POST", path, { body })).id);
  const instance = {
    name: "unsure",
    image: "twice",
    vpc: "net",
    primary_subnet: "front",
    cpu: 1,
    memory_bytes: 2 ** 30,
  };
  const ran = await shell.apply(JSON.stringify({ instances: [instance] }), "--dry-run");
  expect(ran.code).not.toBe(0);
  expect(`${ran.out()}${ran.err()}`).toContain("instance unsure: 2 images have the name twice (");
  for (const id of ids) expect(`${ran.out()}${ran.err()}`).toContain(id);
});

/**
 * Returns a server that answers this number of changes. It carries out the next change, but loses the response. Further
 * changes do not reach the control plane.
 */
function losingAfter(allowed: number): Server {
  const server = serverOf(a.t);
  let changes = 0;
  return async (asked, signal) => {
    if (asked.method === "GET") return await server(asked, signal);
    if (changes > allowed) throw new TypeError("fetch failed");
    const answer = await server(asked, signal);
    if (++changes > allowed) throw new TypeError("fetch failed");
    return answer;
  };
}

function withoutOrder(manifest: Record<string, unknown[]>): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(manifest).map(([list, items]) => [list, items.map((item) => JSON.stringify(item)).sort()]),
  );
}
