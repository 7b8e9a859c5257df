// Tests in Chromium that a page reads only the first rows of a list that can be very long, reports that there are more,
// and leads to the server's search.
import type { Page, Route } from "playwright-core";
import { expect, test } from "vitest";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { useConsoleSite } from "./site.ts";

/** The time limit of one test on a busy machine, in milliseconds. */
const LIMIT_MS = 120_000;
const ROWS = 1_000;
const SILOS = 60;

let tenant: TestTenant;

const f = useConsoleSite(async (site) => {
  tenant = await openTenant(site);
});

const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const created_at = "2026-11-01T00:00:00Z";

/** Answers requests of this path with a first page of 1,000 copies of the row. Returns the queries of the requests. */
async function answerWith(page: Page, path: string, row: (n: number) => object): Promise<string[]> {
  const queries: string[] = [];
  await page.route((url) => url.pathname === path, (route: Route) => {
    queries.push(new URL(route.request().url()).search);
    const items = Array.from({ length: ROWS }, (_, n) => ({ id: idOf(n), created_at, ...row(n) }));
    return route.fulfill({ json: { items, next_page: "more" } });
  });
  return queries;
}

const instance = (n: number) => ({
  name: `web${n}`,
  lifecycle: { state: "running" },
  host_live: true,
  cpu: 1,
  memory_bytes: 2 ** 30,
  brand: "kvm",
});

test("the list of a project's instances reads one page, and leads to the search", async () => {
  const own = await f.site().open({ key: tenant.key });
  const queries = await answerWith(own.page, "/v1/instances", instance);
  await own.show(`/t/${tenant.tenant_id}/p/${tenant.project_id}/instances?state=running&q=web5000`);
  await own.page.getByText("Only the first 1,000 are searched.").waitFor();
  expect(new Set(queries)).toEqual(
    new Set([`?tenant=${tenant.tenant_id}&project=${tenant.project_id}&state=running&limit=1000`]),
  );
  await own.page.getByRole("link", { name: "Search all objects for “web5000”" }).click();
  await own.page.getByRole("heading", { name: "Find web5000" }).waitFor();
  await own.page.context().close();
}, LIMIT_MS);

test(
  "for a text of several words, the page of all instances searches for one word at the server and for the rest itself",
  async () => {
    const own = await f.site().open();
    const queries = await answerWith(own.page, "/v1/system/instances", instance);
    await own.show("/all-instances?q=-web1 web state:running");
    await own.page.getByText("Only the first 1,000 are searched.").waitFor();
    await own.page.getByRole("link", { name: "web2", exact: true }).waitFor();
    expect(await own.page.getByRole("link", { name: "web1", exact: true }).count()).toBe(0);
    expect(new Set(queries)).toEqual(new Set(["?q=web&limit=1000"]));
    await own.page.context().close();
  },
  LIMIT_MS,
);

test("the lists of users and of boot records read one page each", async () => {
  const own = await f.site().open();
  const users = await answerWith(own.page, "/v1/system/users", (n) => ({
    username: `user${n}`,
    tenant_id: null,
    is_root: false,
    capabilities: [],
    issuer: null,
  }));
  await own.show("/users");
  await own.page.getByText("The list shows the first 1,000 users.").waitFor();
  expect(new Set(users)).toEqual(new Set(["?limit=1000"]));
  const records = await answerWith(own.page, "/v2/cn-boot", (n) => ({ mac: `02:00:5e:00:53:${n}`, state: "enrolled" }));
  await own.show("/boot?state=enrolled&q=02:00:5e:00:53:77");
  await own.page.getByRole("link", { name: "Open the record of 02:00:5e:00:53:77" }).waitFor();
  expect(new Set(records)).toEqual(new Set(["?state=enrolled&limit=1000"]));
  await own.page.context().close();
}, LIMIT_MS);

test(
  "the list of tenants reads the tenants of 50 silos, and the page of a tenant finds a tenant of a later silo, too",
  async () => {
    const own = await f.site().open();
    const silos = Array.from(
      { length: SILOS },
      (_, n) => ({ id: idOf(n), name: `silo${n}`, description: "", created_at }),
    );
    await own.page.route("**/v1/silos", (route) => route.fulfill({ json: silos }));
    const asked = new Set<string>();
    await own.page.route("**/v1/silos/*/tenants", (route) => {
      const silo_id = new URL(route.request().url()).pathname.split("/")[3]!;
      asked.add(silo_id);
      const last = idOf(SILOS - 1);
      const id = silo_id === last ? last : `${silo_id.slice(0, -1)}f`;
      return route.fulfill({ json: [{ id, silo_id, name: "default", description: "", created_at }] });
    });
    await own.page.goto(`${f.site().url}/console/tenants`);
    await own.page.getByText("Only the tenants of the first 50 of 60 silos are shown and searched.").waitFor();
    await own.settled();
    expect(asked.size).toBe(50);
    await own.show(`/tenants/${idOf(SILOS - 1)}`);
    await own.page.getByText("in silo59").waitFor();
    await own.page.context().close();
  },
  LIMIT_MS,
);
