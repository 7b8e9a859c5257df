// Checks the heading, title, accessibility and content security policy of every page of the navigation in Chromium, in
// both themes and for every kind of user. Pages are shown with objects, without objects, during the load, and after a
// refusal.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addNode } from "../compute/compute-fixture.ts";
import { type InstanceFixture, makeInstance, openInstanceFixture } from "../compute/instance-fixture.ts";
import type { ConsolePage } from "../support/browser.ts";
import { okOf } from "../support/control-plane.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { serveJobs, useConsoleSite } from "./site.ts";

const LIMIT_MS = 240_000;
/** A page must show a refusal within this time, in milliseconds. */
const REFUSED_MS = 5_000;
/** Pages that send a request only after the user presses a button, by path. The value is the button's name. */
const ASKS_LATER: ReadonlyMap<string, string> = new Map([
  ["/doctor", "Run the checks"],
  ["/placement", "Explain"],
  ["/drain-by-label", "Show the plan"],
  ["/audit-verification", "Verify"],
]);
/**
 * The ends of the paths of pages that do not read objects again. These are forms, and a page whose object never
 * changes.
 */
const FIXED = ["/factory-reset", "/boot-policy", "/rebuild", "/new-instance", "/audit/1"];
const PASSWORD = "correct horse battery";

/** A tenant with objects of every kind, and a tenant without objects. */
let full: InstanceFixture;
let empty: TestTenant;
const keys: Record<string, string> = {};
/** The pages of single objects. The navigation has no links to them. */
let objects: readonly string[] = [];

const f = useConsoleSite(async (site) => {
  const node = await addNode(site);
  serveJobs(node);
  await site.register({ hostname: "r1-u2" });
  full = await openInstanceFixture(site, {
    url: "https://images.example/linux",
    sha256: "5e".repeat(32),
    size_bytes: 2 ** 30,
  });
  empty = await openTenant(site, "bare");
  const { id } = okOf(await makeInstance(full, { name: "web1" }));
  okOf(await full.call("POST", `/v1/floating-ips${full.selectors}`, { body: { name: "public", family: "v4" } }));
  const [vpc] = okOf(await full.call("GET", `/v1/vpcs${full.selectors}`)).items;
  const rule = { name: "ssh", direction: "inbound", action: "allow", priority: 100, protocol: "tcp" };
  okOf(await full.call("POST", `/v1/firewall-rules?vpc=${vpc.id}`, { body: rule }));
  const gateway = okOf(await full.call("POST", `/v1/nat-gateways?vpc=${vpc.id}`, { body: { name: "out" } }));
  const [nic] = okOf(await full.call("GET", `/v1/nics?instance=${id}`)).items;
  const forward = { name: "https", nat_gateway_id: gateway.id, nic_id: nic.id, public_port: 443 };
  okOf(await full.call("POST", `/v1/port-forwards?vpc=${vpc.id}`, { body: forward }));
  const [disk] = okOf(await full.call("GET", `/v1/disks?instance=${id}`)).items;
  okOf(await full.call("POST", `/v1/snapshots?disk=${disk.id}`, { body: { name: "monday" } }));
  okOf(
    await full.call("POST", `/v1/placement-groups${full.selectors}`, { body: { name: "spread" } }),
  );
  const hook = { name: "chat", url: "https://hooks.example/berth" };
  const webhook = okOf(await full.call("POST", `/v1/webhooks${full.selectors}`, { body: hook }));
  okOf(await full.call("POST", `/v1/webhooks/${webhook.id}/test`, { body: {} }));
  const [operation] = okOf(await site.call("GET", "/v1/operations"));
  const [job] = okOf(await site.call("GET", "/v1/system/jobs")).items;
  const nodeTabs = ["overview", "hardware", "instances", "setup", "placement", "load", "activity"];
  objects = [
    ...nodeTabs.map((tab) => `/nodes/${node.server_uuid}?tab=${tab}`),
    `/nodes/${node.server_uuid}/factory-reset`,
    `/nodes/${node.server_uuid}/drain`,
    `/jobs/${job.id}`,
    `/operations/${operation.id}`,
    "/audit/1",
    "/audit-verification",
    "/boot-policy",
    "/boot-roster",
    `/tenants/${full.tenant_id}`,
    `/instances/${id}`,
    `/instances/${id}/metrics`,
    `/instances/${id}/snapshots`,
    `/instances/${id}/migrations`,
    `/instances/${id}/rebuild`,
    `/instances/${id}/trace`,
    `/nodes/${node.server_uuid}/evacuate`,
    "/drain-by-label",
    "/upgrade-by-label",
    `/vpcs/${vpc.id}`,
    `/nat-gateways/${gateway.id}`,
    `/webhooks/${webhook.id}`,
    ...projectPages(full),
  ];
  for (
    const [username, extra] of [["viewer", { capabilities: ["system-read"] }], ["member", {
      tenant_id: full.tenant_id,
    }]] as const
  ) {
    okOf(await site.call("POST", "/v1/system/users", { body: { username, password: PASSWORD, ...extra } }));
    const login = await site.call("POST", "/v1/auth/login", { key: null, body: { username, password: PASSWORD } });
    const body = { description: username };
    const key = await site.call("POST", "/v1/auth/api-keys", { key: okOf(login).access_token, body });
    keys[username] = okOf(key).secret;
  }
});

function projectPages({ tenant_id, project_id }: TestTenant): string[] {
  const base = `/t/${tenant_id}`;
  const pages = [
    ...["instances", "new-instance", "networks", "floating-ips", "images", "placement-groups", "webhooks", "quota"],
    "audit",
  ];
  return [base, ...pages.map((page) => `${base}/p/${project_id}/${page}`)];
}

/** Returns the faults of a page: of its heading, its title, its accessibility and its width. */
async function faultsOf(ui: ConsolePage, path: string): Promise<string[]> {
  await ui.show(path);
  await ui.settled();
  const found: string[] = [];
  if (await ui.page.locator("h1:focus").count() !== 1) found.push("the heading has no focus");
  if (!(await ui.page.title()).endsWith(" · Berth")) found.push("no title");
  const excess = await ui.page.evaluate("document.documentElement.scrollWidth - innerWidth");
  if (excess !== 0) found.push(`${excess} px wider than the screen`);
  return [...found, ...await ui.axe()].map((fault) => `${path}: ${fault}`);
}

async function faultsOfAll(ui: ConsolePage, paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) found.push(...await faultsOf(ui, path));
  return found;
}

const navigation = (ui: ConsolePage): Promise<string[]> =>
  ui.page.locator("nav.side .groups a").evaluateAll((all) =>
    all.map((each) => each.getAttribute("href")?.replace("/console", "") ?? "")
  );

describe.each(["light", "dark"] as const)("every page with objects, %s theme,", (colorScheme) => {
  test("has its heading in focus, a title, no accessibility fault and no violation of the policy", async () => {
    const ui = f.ui();
    await ui.page.emulateMedia({ colorScheme });
    await ui.show("/overview");
    const links = await navigation(ui);
    expect(links.length).toBeGreaterThan(12);
    expect(await faultsOfAll(ui, [...links, ...objects, "/me", "/nowhere"])).toEqual([]);
    expect(ui.faults).toEqual([]);
  }, LIMIT_MS);
});

describe.each(
  (["viewer", "member", "key"] as const).flatMap((who) =>
    (["light", "dark"] as const).map((theme) => [who, theme] as const)
  ),
)("every page of the user %s, %s theme,", (who, colorScheme) => {
  test("has no accessibility fault, and its own requests are permitted", async () => {
    const ui = await f.site().open({ key: who === "key" ? full.key : keys[who] });
    await ui.page.emulateMedia({ colorScheme });
    const links = await navigation(ui);
    const own = who === "viewer" ? [] : projectPages(full);
    const found: string[] = [];
    for (const path of [...links, ...own, "/me"]) {
      found.push(...await faultsOf(ui, path));
      // The server must not refuse a page that the navigation offers.
      const alerts = await ui.page.getByRole("alert").allInnerTexts();
      found.push(...alerts.map((text) => `${path}: ${text}`));
    }
    expect(found).toEqual([]);
    expect(ui.faults).toEqual([]);
    await ui.page.context().close();
  }, LIMIT_MS);
});

describe("the states of a page", () => {
  let ui: ConsolePage;
  beforeAll(async () => {
    if (f.isOpen()) ui = await f.site().open({ key: null });
  });
  afterAll(() => ui?.page.context().close());

  test("in a project without objects, each list shows an explanation", async () => {
    const own = await f.site().open({ key: empty.key });
    expect(await faultsOfAll(own, projectPages(empty))).toEqual([]);
    for (const page of ["instances", "networks", "floating-ips", "images", "placement-groups", "webhooks"]) {
      await own.show(`/t/${empty.tenant_id}/p/${empty.project_id}/${page}`);
      await own.page.locator(".empty p").waitFor();
    }
    await own.page.context().close();
  }, LIMIT_MS);

  test.each([403, 404, 503])(
    "after a refusal with %i, the page shows the server's message and the request id",
    async (status) => {
      const own = await f.site().open();
      const links = await navigation(own);
      await own.page.route(
        /\/v[12]\//,
        (route) =>
          /\/v1\/(changes|auth\/whoami)/.test(route.request().url()) ? route.continue() : route.fulfill({
            status,
            contentType: "application/json",
            body: JSON.stringify({ message: "refused for a test", request_id: "11111111-2222-4333-8444-555555555555" }),
          }),
      );
      // Loads a new document, because the store of the old document would show earlier answers.
      await own.page.goto(`${f.site().url}/console/nowhere`);
      await own.page.getByRole("navigation", { name: "Main" }).waitFor();
      const silent: string[] = [];
      for (const path of new Set([...links, ...objects, "/upgrade-by-label", ...ASKS_LATER.keys()])) {
        await own.show(path);
        const button = ASKS_LATER.get(path);
        if (button !== undefined) {
          for (const field of await own.page.locator("main input[name=label]").all()) await field.fill("rack=a3");
          await own.page.getByRole("main").getByRole("button", { name: button }).click();
        }
        const problem = own.page.locator(".problem").filter({ hasText: "refused for a test" });
        const hasId = problem.filter({ hasText: "11111111-2222" }).first().waitFor({ timeout: REFUSED_MS });
        await hasId.catch(() => silent.push(path));
      }
      expect(silent).toEqual([]);
      expect(await faultsOf(own, links[1] ?? "")).toEqual([]);
      await own.page.context().close();
    },
    LIMIT_MS,
  );

  test("after a refusal of a later read, the page shows the refusal and keeps what it had read", async () => {
    const own = await f.site().open();
    const links = await navigation(own);
    const silent: string[] = [];
    for (const path of [...links, ...objects]) {
      if (ASKS_LATER.has(path) || FIXED.some((end) => path.endsWith(end))) continue;
      await own.show(path);
      await own.settled();
      const hadRows = await own.page.locator("tbody tr:not(.space)").count() > 0;
      await own.page.route(
        /\/v[12]\//,
        (route) =>
          /\/v1\/(changes|auth\/whoami)/.test(route.request().url()) ? route.continue() : route.fulfill({
            status: 404,
            json: { message: "refused for a test" },
          }),
      );
      // When a hidden page becomes visible, it reads everything again.
      await own.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
      const problem = own.page.locator(".problem").filter({ hasText: "refused for a test" });
      await problem.first().waitFor({ timeout: REFUSED_MS }).catch(() => silent.push(path));
      if (hadRows) expect(await own.page.locator("tbody tr:not(.space)").count(), path).toBeGreaterThan(0);
      await own.page.unroute(/\/v[12]\//);
    }
    expect(silent).toEqual([]);
    await own.page.context().close();
  }, LIMIT_MS);

  test("while the server is slow, the page has its heading and no accessibility fault", async () => {
    const own = await f.site().open();
    const links = await navigation(own);
    const held = Promise.withResolvers<void>();
    await own.page.route(/\/v[12]\//, async (route) => {
      await held.promise;
      await route.continue().catch(() => {});
    });
    const found: string[] = [];
    for (const path of [...links, ...objects]) {
      await own.show(path);
      found.push(...(await own.axe()).map((fault) => `${path}: ${fault}`));
    }
    expect(found).toEqual([]);
    held.resolve();
    await own.page.context().close();
  }, LIMIT_MS);
});

test("no page is wider than a screen of 400 px", async () => {
  const narrow = await f.site().open({ width: 400 });
  const found: string[] = [];
  for (const path of [...await navigation(narrow), ...objects, "/me"]) {
    await narrow.show(path);
    await narrow.settled();
    const excess = await narrow.page.evaluate("document.documentElement.scrollWidth - innerWidth");
    if (excess !== 0) found.push(`${path}: ${excess} px`);
  }
  expect(found).toEqual([]);
}, LIMIT_MS);
