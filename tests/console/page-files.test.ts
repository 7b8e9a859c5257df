// Tests in Chromium at which times the browser loads the files of pages that are not in the first load.
import { expect, test } from "vitest";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { type ConsolePage, signInWithKey } from "../support/browser.ts";
import { ROOT_KEY } from "../support/server-process.ts";
import { useConsoleSite } from "./site.ts";

/** The time limit of one test on a busy machine, in milliseconds. */
const LIMIT_MS = 120_000;
const SCRIPTS = /\/console\/.*\.js$/;

let tenant: TestTenant;
const f = useConsoleSite(async (site) => {
  tenant = await openTenant(site);
});

/** The names of the loaded scripts, without the hash of their content. Leaves out scripts that `fetch` requested. */
const loaded = (ui: ConsolePage) =>
  ui.page.evaluate<string[]>(`performance.getEntriesByType("resource")
    .filter(({ initiatorType }) => initiatorType !== "fetch").map(({ name }) => name)
    .filter((name) => name.endsWith(".js")).map((name) => name.match(/([^/]+)-[^-]+$/)[1]).sort()`);

test("an idle browser loads the pages of the user, but not the terminal and the charts", async () => {
  const pages = (names: readonly string[]) => names.filter((name) => !["chunk", "main"].includes(name));
  await expect.poll(async () => pages(await loaded(f.ui()))).toEqual(["audit", "more-pages", "more-pages"]);
  const own = await f.site().open({ key: tenant.key });
  await expect.poll(async () => pages(await loaded(own))).toEqual(["audit", "more-pages"]);
  await own.page.context().close();
}, LIMIT_MS);

test("the loaded pages open without a further request for scripts", async () => {
  const own = await f.site().open();
  await expect.poll(async () => (await loaded(own)).filter((name) => name === "more-pages").length).toBe(2);
  await own.settled();
  await own.page.route(SCRIPTS, (route) => route.abort());
  for (const [path, title] of [["/settings", "Settings"], ["/audit", "Audit"], ["/me", "root"]] as const) {
    await own.show(path);
    await own.page.getByRole("heading", { name: title, level: 1 }).waitFor();
  }
  await own.page.context().close();
}, LIMIT_MS);

test("an idle browser does not import a file that it cannot load, and the page of the file opens later", async () => {
  const own = await f.site().open({ key: null });
  const failed = new Set<string>();
  await own.page.route(/\/more-pages-[^/]*\.js$/, async (route) => {
    await route.abort();
    failed.add(route.request().resourceType());
  });
  await signInWithKey(own, ROOT_KEY);
  await expect.poll(() => failed.size).toBeGreaterThan(0);
  await own.settled();
  expect([...failed]).toEqual(["fetch"]);
  await own.page.unrouteAll();
  await own.show("/settings");
  await own.page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
  await own.page.context().close();
}, LIMIT_MS);

test("a page whose file cannot be loaded shows this failure, and opens after a reload of the console", async () => {
  const own = await f.site().open({ key: null });
  await own.page.route(/\/more-pages-[^/]*\.js$/, (route) => route.abort());
  await signInWithKey(own, ROOT_KEY);
  await own.show("/settings");
  await own.page.getByRole("heading", { name: "This page could not be loaded", level: 1 }).waitFor();
  await own.page.unrouteAll();
  await own.page.getByRole("button", { name: "Reload the console" }).click();
  await own.page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
  await own.page.context().close();
}, LIMIT_MS);
