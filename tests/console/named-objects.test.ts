// Tests in Chromium that pages name objects in place of their UUIDs, and that an empty list names the next step.
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

test("without a NIC tag, the page of external networks names the first step", async () => {
  const { page, show } = f.ui();
  const tags = okOf(await f.site().call("GET", "/v1/system/nic-tags"));
  await page.route("**/v1/system/nic-tags?*", (route) => route.fulfill({ json: { ...tags, items: [] } }));
  await show("/networks");
  await page.getByText("Create a NIC tag first, and then an external subnet on it.").waitFor();
  expect(await page.getByRole("button", { name: "Create a NIC tag" }).count()).toBe(1);
}, LIMIT_MS);
