// Tests in Chromium on which list of a page the keys act. If the page consists of one list, the keys always act on this
// list. If a list is below other content, the keys act on the list only while the list has the focus.
import { expect, test } from "vitest";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { okOf } from "../support/control-plane.ts";
import { useConsoleSite } from "./site.ts";

/** The time limit of one test on a busy machine, in milliseconds. */
const LIMIT_MS = 120_000;
const PASSWORD = "correct horse battery";
/** With this many projects, the page of the tenant is longer than the screen. */
const PROJECTS = 8;

let tenant: TestTenant;
let webhook: { readonly id: string };

const f = useConsoleSite(async (site) => {
  tenant = await openTenant(site);
  const projects = `/v1/tenants/${tenant.tenant_id}/projects`;
  for (let n = 0; n < PROJECTS; n++) okOf(await site.call("POST", projects, { body: { name: `shop${n}` } }));
  for (const username of ["alice", "bob"]) {
    const body = { username, password: PASSWORD, tenant_id: tenant.tenant_id };
    okOf(await site.call("POST", "/v1/system/users", { body }));
  }
  const hook = { name: "chat", url: "https://hooks.example/berth", events: ["disk_create"] };
  webhook = okOf(await tenant.call("POST", `/v1/webhooks${tenant.selectors}`, { body: hook }));
  for (const type of ["older", "newer"]) {
    await site.db.query(
      `insert into webhook_delivery (webhook_id, type, event, state, ended_at, last_status)
         values ($1, $2, '{}', 'delivered', berth_now(), 200)`,
      [webhook.id, type],
    );
  }
});

const scrolled = () => f.ui().page.evaluate<number>("document.querySelector('main').scrollTop + scrollY");
const cursorText = () => f.ui().page.locator("tr.at").innerText();

test(
  "on a tenant's page, the keys scroll the page; they move the cursor of the members only while the list has the focus",
  async () => {
    const { page, settled, show } = f.ui();
    await show(`/tenants/${tenant.tenant_id}`);
    await page.getByText("bob", { exact: true }).waitFor();
    await settled();
    for (const key of ["ArrowDown", "j", "PageDown"]) {
      await page.keyboard.press(key);
      expect(await cursorText(), key).toContain("alice");
    }
    await expect.poll(scrolled).toBeGreaterThan(100);
    await page.keyboard.press("Home");
    await expect.poll(scrolled).toBe(0);
    await page.getByRole("region", { name: "Members" }).focus();
    await page.keyboard.press("ArrowDown");
    expect(await cursorText()).toContain("bob");
    await page.keyboard.press("Home");
    expect(await cursorText()).toContain("alice");
  },
  LIMIT_MS,
);

test("on a webhook's page, the keys move the cursor of the deliveries only while that list has the focus", async () => {
  const { page, settled, show } = f.ui();
  await show(`/webhooks/${webhook.id}`);
  await page.getByRole("gridcell", { name: "newer" }).waitFor();
  await settled();
  for (const key of ["End", "ArrowDown", "j"]) {
    await page.keyboard.press(key);
    expect(await cursorText(), key).toContain("newer");
  }
  await page.getByRole("region", { name: "Deliveries" }).focus();
  await page.keyboard.press("j");
  expect(await cursorText()).toContain("older");
}, LIMIT_MS);

test("Enter in the filter of the members moves the focus to the list of members", async () => {
  const { page, show } = f.ui();
  await show(`/tenants/${tenant.tenant_id}`);
  await page.getByText("bob", { exact: true }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.press("Enter");
  await page.keyboard.press("j");
  expect(await cursorText()).toContain("bob");
}, LIMIT_MS);

test("on a page with one list, the keys move the list's cursor even if the list does not have the focus", async () => {
  const { page, show } = f.ui();
  await show("/users");
  await page.getByText("bob", { exact: true }).waitFor();
  expect(await cursorText()).toContain("root");
  await page.keyboard.press("End");
  expect(await cursorText()).toContain("bob");
  await page.keyboard.press("ArrowUp");
  expect(await cursorText()).toContain("alice");
}, LIMIT_MS);
