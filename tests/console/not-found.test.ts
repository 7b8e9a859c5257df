// Tests in Chromium the addresses that name no object: the console does not ask the server for a malformed id, and the
// page has links to pages that exist.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { makeInstance, openInstanceFixture } from "../compute/instance-fixture.ts";
import { addNode } from "../compute/compute-fixture.ts";
import { okOf } from "../support/control-plane.ts";
import type { TestTenant } from "../tenancy/tenant.ts";
import { serveJobs, useConsoleSite } from "./site.ts";

/** The time limit of one test on a busy machine, in milliseconds. */
const LIMIT_MS = 120_000;
const ID = "00000000-0000-4000-8000-000000000000";

let tenant: TestTenant;
let web1: { readonly id: string };

const f = useConsoleSite(async (site) => {
  serveJobs(await addNode(site, {}, { hostname: "r1-u1" }));
  const g = await openInstanceFixture(site, {
    url: "https://images.example/linux",
    sha256: "5e".repeat(32),
    size_bytes: 2 ** 30,
  });
  tenant = g;
  web1 = okOf(await makeInstance(g, { name: "web1" }));
});

/** The addresses of all pages with parameters, read from the tables of pages. */
const patterns = ["operator", "tenant"].flatMap((folder) => {
  const source = readFileSync(new URL(`../../console/${folder}/pages.tsx`, import.meta.url), "utf8");
  return [...source.matchAll(/"(\/[a-z][^" ]*:[^" ]+)"/g)].map(([, pattern]) => pattern!);
});

test("an address with a malformed parameter has no page, and the console does not ask the server for it", async () => {
  expect(patterns.length).toBeGreaterThan(25);
  const { page, show, settled } = f.ui();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  for (const pattern of patterns) {
    const names = pattern.match(/:\w+/g) ?? [];
    for (const wrong of names) {
      const path = names.reduce((text, name) => text.replace(name, name === wrong ? "no%20pe" : ID), pattern);
      await show(path);
      await page.getByRole("heading", { name: "No such page", level: 1 }).waitFor();
      await page.getByRole("link", { name: "Go to the start" }).waitFor();
    }
  }
  await settled();
  expect(asked.filter((path) => path.includes("no%20pe"))).toEqual([]);
}, LIMIT_MS);

test.each([
  ["/instances/web1", "is not a UUID", "Go to “All instances”"],
  ["/boot/web1", "is not a MAC", "Go to “Boot records”"],
  ["/audit/web1", "is not a number", "Go to “Audit”"],
  ["/nodes/web1/drain", "is not a UUID", "Go to “Nodes”"],
])("%s says that the text %s, and has the link %s", async (path, reason, link) => {
  const { page, show } = f.ui();
  await show(path);
  await page.getByText(`“web1” ${reason}.`).waitFor();
  await page.getByRole("link", { name: link }).click();
  await page.getByRole("heading", { name: link.slice("Go to “".length, -1), exact: true, level: 1 }).waitFor();
}, LIMIT_MS);

test("the search for the text of an address finds the object by its name", async () => {
  const { page, show } = f.ui();
  await show("/instances/web1");
  await page.getByRole("link", { name: "Search for “web1”" }).click();
  await page.getByRole("heading", { name: "web1", exact: true, level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console/instances/${web1.id}`);
}, LIMIT_MS);

test("a tenant is sent to the list of its project, even from an object that does not exist", async () => {
  const own = await f.site().open({ key: tenant.key });
  const project = `/t/${tenant.tenant_id}/p/${tenant.project_id}`;
  await own.show(`${project}/quota`);
  await own.settled();
  for (
    const [path, list, heading] of [
      ["/vpcs/nope", "networks", "VPCs"],
      [`/vpcs/${ID}`, "networks", "VPCs"],
      [`/webhooks/${ID}`, "webhooks", "Webhooks"],
    ]
  ) {
    await own.show(path!);
    await own.page.getByRole("link", { name: `Go to “${heading}”` }).click();
    await own.page.getByRole("heading", { name: heading!, exact: true, level: 1 }).waitFor();
    expect(new URL(own.page.url()).pathname).toBe(`/console${project}/${list}`);
  }
  await own.show("/nodes/nope");
  await own.page.getByRole("link", { name: "Go to the start" }).waitFor();
  expect(await own.page.getByRole("link", { name: "Go to “Nodes”" }).count()).toBe(0);
  await own.show("/t/nope/p/nope/instances");
  await own.page.getByRole("heading", { name: "No such page" }).waitFor();
  const links = await own.page.locator("nav.side .groups a").evaluateAll((all) =>
    all.map((each) => each.getAttribute("href"))
  );
  expect(links).toContain(`/console${project}/instances`);
  await own.page.context().close();
}, LIMIT_MS);
