// Tests values in the manifest of a site that the server stores in another form, and settings that environment
// variables of the server override.
import { afterAll, beforeAll, expect, test } from "vitest";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { opsctlAt, type OpsctlRunner } from "./at-control-plane.ts";

let t: TestControlPlane;
let empty: TestControlPlane;
let at: OpsctlRunner;
beforeAll(async () => {
  [t, empty] = await Promise.all([openTestControlPlane(), openTestControlPlane()]);
  at = opsctlAt(t);
});
afterAll(async () => {
  await t?.close();
  await empty?.close();
});

const apply = async (text: string, words = "", to = at) => {
  const ran = await to.run(`apply -f - ${words}`.trim(), { typed: text });
  return { code: ran.code, out: ran.out(), err: ran.err() };
};
const UNCHANGED = /^0 to create, 0 to change, 0 to replace, 0 to delete, \d+ unchanged\n$/;

/** Applies a manifest twice. The second run must change nothing. */
async function applyTwice(text: string, to = at): Promise<void> {
  const first = await apply(text, "", to);
  expect(first.code, first.err).toBe(0);
  const again = await apply(text, "", to);
  expect(again, again.err).toMatchObject({ code: 0, out: expect.stringMatching(UNCHANGED) });
}

const TAG = "nic_tags: [{ name: uplink, mtu: 1500 }]\n";
const subnet = (fields: string) => `${TAG}external_subnets:\n  - { nic_tag: uplink, ${fields} }\n`;

test.each([
  ["a range that begins at the gateway", "name: a, ipv4_block: 198.51.100.0/24, provision_start_ipv4: 198.51.100.1"],
  [
    "an IPv6 range that begins at the gateway",
    "name: b, ipv6_block: 2001:DB8:1::/64, provision_start_ipv6: 2001:db8:1::1",
  ],
  [
    "addresses in another form than the stored form",
    "name: c, ipv6_block: 2001:db8:2::/64, provision_start_ipv6: 2001:DB8:2:0::10, " +
    "provision_end_ipv6: 2001:0db8:2::FF, gateway_ipv6: 2001:db8:2:0:0:0:0:2",
  ],
])("a second run changes nothing if the manifest has %s", async (_, fields) => {
  await applyTwice(subnet(fields));
});

test("a text that is not an IP address is refused", async () => {
  const ran = await apply(subnet("name: d, ipv4_block: 192.0.2.0/24, gateway_ipv4: first"));
  expect(ran).toMatchObject({ code: EXIT.usage, out: "" });
  expect(ran.err).toContain("external_subnets[0]: gateway_ipv4 must be an IP address");
});

test("the export of a site with subnets of the fixed public pools can be applied to an empty site", async () => {
  await applyTwice(subnet("name: public, ipv4_block: 203.0.113.0/24, ipv6_block: 2001:db8::/48"));
  await applyTwice(await at.printed("export"), opsctlAt(empty));
});

test("the description null removes the description of an external subnet", async () => {
  const described = (text: string) => subnet(`name: noted, ipv4_block: 198.18.7.0/24, description: ${text}`);
  await applyTwice(described("a note"));
  await applyTwice(described("null"));
});

test("a second run changes nothing if the manifest has null for addresses of a subnet, because the server chooses these", async () => {
  const unset = ["provision_start_ipv4", "provision_end_ipv4", "gateway_ipv4"].map((field) => `${field}: null`);
  await applyTwice(subnet(`name: chosen, ipv4_block: 198.18.8.0/24, ${unset.join(", ")}`));
});

test("a list of the boot policy with the value null is emptied", async () => {
  await applyTwice("boot_policy: { enrollment_kernel_args: [noapic], allowlist: [{ kind: mac_prefix, value: '02' }] }");
  const unset = ["allowlist", "enrollment_kernel_args", "rack_networks", "label_arguments"];
  await applyTwice(`boot_policy: { ${unset.map((field) => `${field}: null`).join(", ")} }`);
  expect(okOf(await t.call("GET", "/v2/cn-boot-policy"))).toMatchObject({ allowlist: [], enrollment_kernel_args: [] });
});

test("a second run changes nothing if networks and consoles of the boot policy omit fields with defaults", async () => {
  const range = "provision_start_ipv4: 10.9.0.10, provision_end_ipv4: 10.9.0.99";
  const rack = "provision_start_ipv4: 10.9.1.10, provision_end_ipv4: 10.9.1.99";
  await applyTwice(`boot_policy:
  admin_network: { ipv4_block: 10.9.0.0/24, ${range} }
  rack_networks: [{ name: r1, ipv4_block: 10.9.1.0/24, ${rack} }]
  label_arguments: [{ label: rack=a, kernel_args: [noapic], console: { port: ttya } }]
`);
});

test("null removes the descriptions and the owners of all records that can have them", async () => {
  const record = (values: string) => (names: string) => `[{ ${names}, ${values} }]`;
  const site = (described: (names: string) => string, owned: (names: string) => string) =>
    `silos: ${described("name: nulls")}
tenants: ${described("silo: nulls, name: web")}
projects: ${described("silo: nulls, tenant: web, name: shop")}
${TAG}external_subnets: ${owned("name: owned, nic_tag: uplink, ipv4_block: 198.18.9.0/24")}
network_pools: ${owned("name: pool, networks: [owned]")}
`;
  await applyTwice(site(record("description: a note"), record("description: a note, owner_silos: [nulls]")));
  await applyTwice(site(record("description: null"), record("description: null, owner_silos: null")));
  const exported = await at.printed("export");
  expect(exported).not.toContain("a note");
  expect(exported).not.toContain("owner_silos");
});

test("another gateway of a fixed public pool is refused", async () => {
  const body = { name: "e", nic_tag: "uplink", ipv4_block: "203.0.113.0/24", provision_start_ipv4: "203.0.113.9" };
  const refused = await t.call("POST", "/v1/system/external-subnets", {
    body: { ...body, gateway_ipv4: "203.0.113.2" },
  });
  expect([refused.status, refused.body.message]).toEqual([
    400,
    "gateway_ipv4 cannot be set for the block of a fixed public pool",
  ]);
});

test("a manifest can set a setting to null", async () => {
  const limit = (value: string) => `settings: [{ key: quota.tenant_default.cpu_limit, value: ${value} }]`;
  await applyTwice(limit("4"));
  await applyTwice(limit("null"));
  expect(okOf(await t.call("GET", "/v1/config/quota.tenant_default.cpu_limit")).value).toBeNull();
});

test("if a variable overrides a setting, a plan to change the setting has a problem, and --prune keeps the setting", async () => {
  const overriding = await openTestControlPlane({ env: { BERTH_INSTANCE_CREATE_WAIT_SECS: "77" } });
  try {
    const to = opsctlAt(overriding);
    const setting = (value: number) => `settings: [{ key: instance.create_wait_secs, value: ${value} }]`;
    const refused = await apply(setting(120), "", to);
    expect(refused).toMatchObject({ code: EXIT.failure, out: "" });
    expect(refused.err).toContain(
      "instance.create_wait_secs: the environment variable BERTH_INSTANCE_CREATE_WAIT_SECS",
    );
    await applyTwice(setting(77), to);
    const pruned = await apply("settings: []", "--prune --yes", to);
    expect(pruned, pruned.err).toMatchObject({ code: 0, out: expect.stringMatching(UNCHANGED) });
    const exported = await to.run("export");
    expect(exported.out()).not.toContain("create_wait_secs");
    expect(exported.err()).toContain("instance.create_wait_secs");
    expect(exported.err()).toContain("which environment variables of the server override");
  } finally {
    await overriding.close();
  }
});
