// Tests pages on the narrow screen of a telephone: long names are complete or shortened inside the screen, and the
// navigation scrolls to the current page.
import { expect, test } from "vitest";
import { addNode } from "../compute/compute-fixture.ts";
import { type InstanceFixture, openInstanceFixture } from "../compute/instance-fixture.ts";
import type { ConsolePage } from "../support/browser.ts";
import { okOf } from "../support/control-plane.ts";
import { useConsoleSite } from "./site.ts";

const LIMIT_MS = 60_000;
const WIDTH = 390;
/** The height of each row in a list. */
const ROW_PX = 36;
/** One line of text is lower than this. */
const ONE_LINE_PX = 24;
const HOSTNAME = "compute-node-with-a-long-hostname-in-rack-17-unit-33-of-site-1a";
const USERNAME = "someone.with.a.very.long.name@subsidiary.of.the.company.example";

let tenant: InstanceFixture;
let gatewayPath: string;
let ui: ConsolePage;
useConsoleSite(async (site) => {
  await addNode(site, {}, { hostname: HOSTNAME });
  for (let at = 0; at < 3; at++) await addNode(site, {}, { hostname: `r1-u${at}` });
  tenant = await openInstanceFixture(site, {
    url: "https://images.example/linux",
    sha256: "5e".repeat(32),
    size_bytes: 2 ** 30,
  });
  const { tenant_id } = tenant;
  const [vpc] = okOf(await tenant.call("GET", `/v1/vpcs${tenant.selectors}`)).items;
  const gateway = okOf(await tenant.call("POST", `/v1/nat-gateways?vpc=${vpc.id}`, { body: { name: "out" } }));
  gatewayPath = `/nat-gateways/${gateway.id}`;
  const body = { username: USERNAME, password: "correct horse battery", tenant_id };
  okOf(await site.call("POST", "/v1/system/users", { body }));
  ui = await site.open({ width: WIDTH });
});

test("a list shows two lines of a long name, and every row has the same height", async () => {
  await ui.show("/nodes");
  const link = ui.page.getByRole("link", { name: HOSTNAME });
  await link.waitFor();
  const rows = await ui.page.locator("tbody tr:not(.space)").evaluateAll((all) =>
    all.map((row) => row.getBoundingClientRect().height)
  );
  expect(rows).toEqual([ROW_PX, ROW_PX, ROW_PX, ROW_PX]);
  expect((await link.boundingBox())?.height).toBeGreaterThan(ONE_LINE_PX);
}, LIMIT_MS);

test("a member's long name does not make the page of a tenant wider than the screen", async () => {
  await ui.show(`/tenants/${tenant.tenant_id}`);
  await ui.page.getByText(USERNAME).waitFor();
  expect(await ui.page.locator("#main").evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
}, LIMIT_MS);

test("no heading of a list is cut off", async () => {
  for (const path of ["/nodes", "/users", `/t/${tenant.tenant_id}/p/${tenant.project_id}/floating-ips`, gatewayPath]) {
    await ui.show(path);
    const headings = ui.page.locator("thead th:not(.wide)");
    await headings.first().waitFor();
    const cut = await headings.evaluateAll((all) =>
      all.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).map(({ textContent }) => textContent)
    );
    expect(cut, path).toEqual([]);
  }
}, LIMIT_MS);

test("the navigation scrolls to the page that is shown", async () => {
  for (const [path, title] of [["/settings", "Settings"], ["/overview", "Overview"]] as const) {
    await ui.show(path);
    const link = ui.page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: title, exact: true });
    await expect.poll(() =>
      link.evaluate((element) => {
        const { left, right } = element.getBoundingClientRect();
        return left >= 0 && right <= innerWidth;
      })
    ).toBe(true);
  }
}, LIMIT_MS);

test("the dialog of keyboard shortcuts opens at its top", async () => {
  await ui.page.keyboard.press("?");
  const dialog = ui.page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await dialog.getByRole("button", { name: "Close" }).waitFor();
  expect(await dialog.evaluate(({ scrollTop, scrollHeight, clientHeight }) => [scrollTop, scrollHeight > clientHeight]))
    .toEqual([0, true]);
  await ui.page.keyboard.press("Escape");
}, LIMIT_MS);

test("the hint of a search field has the colour of other secondary text", async () => {
  await ui.show("/nodes");
  const [hint, dim] = await ui.page.getByRole("searchbox").evaluate((element) => [
    getComputedStyle(element, "::placeholder").color,
    getComputedStyle(element.ownerDocument.querySelector(".count") ?? element).color,
  ]);
  expect(hint).toBe(dim);
}, LIMIT_MS);
