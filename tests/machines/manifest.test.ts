// Applies manifests with the compiled tenantctl. The server runs as `task start` starts it, and its node runs QEMU. See
// docs/manifest.md.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Ended, run, start } from "../processes/executables.ts";
import { okOf } from "../support/control-plane.ts";
import { MEMORY_BYTES, SOON, withMachine } from "./machine.ts";
import { openSite, type Site } from "./site.ts";

const NOTHING = /^0 to create, 0 to change, 0 to replace, 0 to delete, \d+ unchanged\n$/;
const PASSWORD = "correct horse battery";

let site: Site;
let file: string;
/** The environment of a second user of the project. */
let bob: Readonly<Record<string, string>>;

withMachine(async () => {
  site = await openSite();
  file = join(site.folder, "shop.yaml");
  okOf(await site.operator("PATCH", `/v1/images/${site.image_id}`, { body: { name: "guest" } }));
  const { tenant_id } = site;
  okOf(await site.operator("POST", "/v1/system/users", { body: { username: "bob", password: PASSWORD, tenant_id } }));
  const login = { key: null, body: { username: "bob", password: PASSWORD } };
  const { access_token } = okOf(await site.operator("POST", "/v1/auth/login", login));
  bob = { HOME: site.folder, NO_COLOR: "1", TENANTCTL_ENDPOINT: site.url, TENANTCTL_ACCESS_TOKEN: access_token };
  return site.close;
});

const instance = (name: string) =>
  `  - { name: ${name}, image: guest, vpc: shop, primary_subnet: front, cpu: 1, memory_bytes: ${MEMORY_BYTES} }\n`;

const manifest = (...instances: readonly string[]) => `
vpcs:
  - { name: shop, ipv4_block: 10.9.0.0/16 }
subnets:
  - { vpc: shop, name: front, ipv4_block: 10.9.1.0/24 }
firewall_rules:
  - { vpc: shop, name: ssh, priority: 100, direction: inbound, action: allow, protocol: tcp, destination_ports: { low: 22, high: 22 } }
instances:
${instances.map(instance).join("")}`;

async function printed(ended: Promise<Ended>): Promise<string> {
  const { code, out, err } = await ended;
  expect(code, err).toBe(0);
  return out;
}
const apply = (...argv: readonly string[]) => printed(site.tenantctl(["apply", "-f", file, "-o", "table", ...argv]));
const names = async () =>
  JSON.parse(await printed(site.tenantctl(["instance", "list", "-o", "json"]))).items
    .map(({ name }: { name: string }) => name).toSorted();

test("apply creates the records of the file, and the guest boots in their network", async () => {
  await writeFile(file, manifest("web1"));
  expect(await apply("--dry-run")).toMatch(/^4 to create, 0 to change/m);
  expect(await apply()).toContain("4 created");
  await site.logged("web1", /ready host=web1/);
  const [nic] = JSON.parse(await printed(site.tenantctl(["nic", "list", "--instance", "web1", "-o", "json"]))).items;
  expect(nic.primary_ipv4).toMatch(/^10[.]9[.]1[.]/);
  await expect.poll(async () => (await site.show("web1")).guest_interfaces?.[0]?.addresses, SOON)
    .toEqual([nic.primary_ipv4]);
});

test("a second run, and a run of another user of the project, change nothing", async () => {
  expect(await apply()).toMatch(NOTHING);
  const argv = ["apply", "-f", file, "-o", "table", "--project", site.project_id];
  expect(await printed(run("tenantctl", argv, { env: bob }))).toMatch(NOTHING);
});

test("a run after a kill of tenantctl continues, and creates no instance twice", async () => {
  await writeFile(file, manifest("web1", "web2", "web3"));
  const killed = start("tenantctl", ["apply", "-f", file, "--project", site.project_id], { env: bob });
  await expect.poll(names, { ...SOON, interval: 5 }).toContain("web2");
  killed.signal("SIGKILL");
  await killed.ended;
  await apply();
  expect(await names()).toEqual(["web1", "web2", "web3"]);
  expect(await site.machines()).toHaveLength(3);
  expect(await apply()).toMatch(NOTHING);
});

test("the export of the project changes nothing when it is applied", async () => {
  await writeFile(file, await printed(site.tenantctl(["export"])));
  expect(await apply("--prune", "--yes")).toMatch(NOTHING);
});

test("apply with --prune and empty lists stops the instances and deletes all records, and the node keeps nothing", async () => {
  await writeFile(file, "instances: []\nfirewall_rules: []\nsubnets: []\nvpcs: []\n");
  expect((await site.tenantctl(["apply", "-f", file, "--prune"])).code, "without a confirmation").not.toBe(0);
  expect(await names()).toHaveLength(3);
  await apply("--prune", "--yes");
  expect(await names()).toEqual([]);
  await expect.poll(() => site.left(), SOON).toEqual([]);
});
