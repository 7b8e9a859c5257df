// Tests in Chromium that pages name objects in place of their UUIDs, and that an empty list names the next step.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { addNode, type Node } from "../compute/compute-fixture.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { okOf } from "../support/control-plane.ts";
import { useConsoleSite } from "./site.ts";

/** The time limit of one test on a busy machine, in milliseconds. */
const LIMIT_MS = 120_000;

let node: Node;
let tenant: TestTenant;

const f = useConsoleSite(async (site) => {
  node = await addNode(site, {}, { hostname: "r1-u1" });
  tenant = await openTenant(site);
  const body = { pinned_silo_uuid: tenant.silo_id, pinned_tenant_uuid: tenant.tenant_id };
  okOf(await site.call("PATCH", `/v1/cns/${node.server_uuid}/placement`, { body }));
});

test("the placement of a node names the silo and the tenant to which the node is pinned", async () => {
  const { page, show } = f.ui();
  await show(`/nodes/${node.server_uuid}?tab=placement`);
  const main = page.getByRole("main");
  await main.getByRole("link", { name: /^acme-silo-/ }).waitFor();
  await main.getByRole("link", { name: "acme", exact: true }).click();
  await page.getByRole("heading", { name: "acme", exact: true, level: 1 }).waitFor();
}, LIMIT_MS);

test("an audit event shows its object by the kind and the end of the id, and links to the object's page", async () => {
  const { page, show } = f.ui();
  await show("/audit?find=action:tenant_create");
  const row = page.getByRole("row").filter({ hasText: `tenant …${tenant.tenant_id.slice(-8)}` });
  await row.getByRole("link", { name: "tenant_create" }).click();
  await page.getByRole("link", { name: `Tenant::"${tenant.tenant_id}"` }).click();
  await page.getByRole("heading", { name: "acme", exact: true, level: 1 }).waitFor();
}, LIMIT_MS);

/** Returns an operation about an instance, as in the list of operations. */
const operation = (id: string) => ({
  id: randomUUID(),
  kind: "instance-create",
  state: "succeeded",
  references: [{ scope: "tenant", id: tenant.tenant_id }, { scope: "instance", id }],
  stuck_reason: null,
  error: null,
  time_created: "2026-11-21T00:00:00Z",
  time_done: null,
});

test("in the list of operations, operators see names even of instances beyond the first page", async () => {
  const { page, show } = f.ui();
  const [first, other, deleted] = [randomUUID(), randomUUID(), randomUUID()] as const;
  await page.route("**/v1/operations?*", (route) => route.fulfill({ json: [first, other, deleted].map(operation) }));
  const items = [{ id: first, name: "web1" }];
  await page.route("**/v1/system/instances?*", (route) => route.fulfill({ json: { items } }));
  await page.route(`**/v1/instances/${other}`, (route) => route.fulfill({ json: { id: other, name: "web2" } }));
  await show("/operations");
  for (const [id, name] of [[first, "web1"], [other, "web2"], [deleted, `…${deleted.slice(-8)}`]] as const) {
    const link = page.getByRole("link", { name: `instance ${name}`, exact: true });
    await link.waitFor();
    expect(await link.getAttribute("href")).toBe(`/console/instances/${id}`);
  }
  await page.unrouteAll();
}, LIMIT_MS);

test(
  "the list of operations reads the names of the instances on screen, even if 150 newer instances are deleted",
  async () => {
    // A page that is open already would show the operations of an earlier test at first.
    const { page, show } = await f.site().open();
    const deleted = Array.from({ length: 150 }, () => randomUUID());
    const old = randomUUID();
    const read = new Set<string>();
    await page.route("**/v1/operations?*", (route) => route.fulfill({ json: [...deleted, old].map(operation) }));
    await page.route("**/v1/system/instances?*", (route) => route.fulfill({ json: { items: [] } }));
    await page.route("**/v1/instances/*", async (route) => {
      const id = new URL(route.request().url()).pathname.split("/").at(-1)!;
      read.add(id);
      const json = id === old ? { id, name: "web9" } : { message: "not found", error_code: "not_found" };
      await route.fulfill({ status: id === old ? 200 : 404, json });
    });
    await show("/operations");
    await page.getByRole("link", { name: `instance …${deleted[0]!.slice(-8)}`, exact: true }).waitFor();
    await page.keyboard.press("End");
    const link = page.getByRole("link", { name: "instance web9", exact: true });
    await link.waitFor();
    expect(read.size, "one request for each row that was on screen, and no request for the rows that were skipped")
      .toBeLessThan(120);
    await page.getByRole("searchbox", { name: "Filter operations" }).fill("web9");
    await page.getByRole("link", { name: /^instance …/ }).first().waitFor({ state: "detached" });
    expect(await link.count()).toBe(1);
    await page.context().close();
  },
  LIMIT_MS,
);

test("without a NIC tag, the page of external networks names the first step", async () => {
  const { page, show } = f.ui();
  const tags = okOf(await f.site().call("GET", "/v1/system/nic-tags"));
  await page.route("**/v1/system/nic-tags?*", (route) => route.fulfill({ json: { ...tags, items: [] } }));
  await show("/networks");
  await page.getByText("Create a NIC tag first, and then an external subnet on it.").waitFor();
  expect(await page.getByRole("button", { name: "Create a NIC tag" }).count()).toBe(1);
}, LIMIT_MS);

test("operators see the name and a link of a gateway's external subnet; a tenant sees its UUID", async () => {
  const site = f.site();
  okOf(await site.call("POST", "/v1/system/nic-tags", { body: { name: "uplink", mtu: 1_500 } }));
  const block = { name: "internet", nic_tag: "uplink", ipv4_block: "198.51.100.0/24" };
  const { id: network_id } = okOf(await site.call("POST", "/v1/system/external-subnets", { body: block }));
  const vpc = { name: "shop", ipv4_block: "10.0.0.0/16" };
  const { id } = okOf(await tenant.call("POST", `/v1/vpcs${tenant.selectors}`, { body: vpc }));
  const gateway = okOf(
    await tenant.call("POST", `/v1/nat-gateways?vpc=${id}`, { body: { name: "out", family: "v4", network_id } }),
  );
  const { page, show } = f.ui();
  const theirs = await site.open({ key: tenant.key });
  await theirs.show(`/nat-gateways/${gateway.id}`);
  await theirs.page.getByRole("definition").getByText(network_id, { exact: true }).waitFor();
  await theirs.page.context().close();
  await show(`/nat-gateways/${gateway.id}`);
  const fact = page.getByRole("definition").filter({ hasText: "internet" });
  await fact.getByText(block.ipv4_block, { exact: true }).waitFor();
  await fact.getByRole("link", { name: "internet" }).click();
  await page.getByRole("heading", { name: "External networks", level: 1 }).waitFor();
  await page.getByRole("gridcell", { name: "internet", exact: true }).waitFor();
}, LIMIT_MS);
