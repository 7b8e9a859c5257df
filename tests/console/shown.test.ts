// Tests what the pages show in Chromium: names in place of UUIDs, whole tables, visible key hints, and links that the
// caller can open.
import { expect, test } from "vitest";
import { addNode, type Node } from "../compute/compute-fixture.ts";
import { type InstanceFixture, makeInstance, openInstanceFixture } from "../compute/instance-fixture.ts";
import type { ConsolePage } from "../support/browser.ts";
import { okOf } from "../support/control-plane.ts";
import { serveJobs, useConsoleSite } from "./site.ts";

/** The time limit of one test on a busy machine, in milliseconds. */
const LIMIT_MS = 120_000;

let g: InstanceFixture;
let node: Node;
let web1: { readonly id: string };
let tenant: ConsolePage;

const f = useConsoleSite(async (site) => {
  node = await addNode(site, {}, { hostname: "r1-u1" });
  serveJobs(node);
  g = await openInstanceFixture(site, {
    url: "https://images.example/linux",
    sha256: "5e".repeat(32),
    size_bytes: 2 ** 30,
  });
  web1 = okOf(await makeInstance(g, { name: "web1" }));
  tenant = await site.open({ key: g.key });
});
const show = async (path: string, as = f.ui()) => {
  await as.show(path);
  await as.settled();
  return as.page.getByRole("main");
};

test("the whole firewall table fits a window of 1,280 pixels, and at 400 pixels Delete stays in sight", async () => {
  const [vpc] = okOf(await g.call("GET", `/v1/vpcs${g.selectors}`)).items;
  const rule = { name: "ssh", direction: "inbound", action: "allow", priority: 100, protocol: "tcp" };
  okOf(await g.call("POST", `/v1/firewall-rules?vpc=${vpc.id}`, { body: rule }));
  for (const width of [1_280, 400]) {
    await tenant.page.setViewportSize({ width, height: 800 });
    const main = await show(`/vpcs/${vpc.id}`, tenant);
    const box = await main.getByRole("button", { name: "Delete ssh", exact: true }).boundingBox();
    expect((box?.x ?? width) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
    const scrolls = main.getByRole("region", { name: "Firewall rules" });
    const excess = await scrolls.evaluate((element) => element.scrollWidth - element.clientWidth);
    if (width === 1_280) expect(excess).toBe(0);
  }
  await tenant.page.setViewportSize({ width: 1_280, height: 800 });
}, LIMIT_MS);

test("only an operator gets the link to the reasons of a placement", async () => {
  const path = `/t/${g.tenant_id}/p/${g.project_id}/new-instance`;
  const theirs = await show(path, tenant);
  await theirs.getByText("an operator can see the reason").waitFor();
  expect(await theirs.locator("a[href*='/placement?']").count()).toBe(0);
  const ours = await show(path);
  await ours.locator("a[href*='/placement?cpu=1&memory=1+GiB']").click();
  const [{ name, hint }] = okOf(await f.site().call("GET", `/v1/search?q=${g.tenant_id}`)).items;
  await ours.getByLabel(/^Tenant/).waitFor();
  expect(await ours.getByLabel(/^Tenant/).inputValue()).toBe(`${hint}/${name}`);
}, LIMIT_MS);

test("the key on a primary button has the colour of the button's text", async () => {
  const main = await show(`/t/${g.tenant_id}/p/${g.project_id}/instances`, tenant);
  const button = main.getByRole("button", { name: /^Create an instance/ });
  await button.waitFor();
  // A script in a string, because the tests are checked without the types of the DOM.
  const colour = (of: string) => tenant.page.evaluate(`getComputedStyle(document.querySelector("${of}")).color`);
  const wanted = await colour("main button.primary");
  expect(wanted).toMatch(/^rgb/);
  expect(await colour("main button.primary kbd")).toBe(wanted);
}, LIMIT_MS);

test("the list of jobs and the page of a job name the node and the operation", async () => {
  const jobs = await show("/jobs");
  await jobs.getByRole("link", { name: "r1-u1" }).first().waitFor();
  const [job] = okOf(await f.site().call("GET", "/v1/system/jobs")).items;
  const page = await show(`/jobs/${job.id}`);
  await page.getByRole("link", { name: "r1-u1" }).waitFor();
  await page.getByRole("link", { name: "instance-create" }).waitFor();
}, LIMIT_MS);

test("the list of jobs reads only the newest jobs of the chosen state", async () => {
  const read = f.ui().page.waitForRequest((request) => request.url().includes("/v1/system/jobs?"));
  const main = await show("/jobs?state=failed");
  const asked = new URL((await read).url()).searchParams;
  expect(Object.fromEntries(asked)).toEqual({ limit: "200", status: "failed" });
  await main.getByText("No job matches.").waitFor();
}, LIMIT_MS);

test("operations name the objects that they are about", async () => {
  await (await show("/operations")).getByRole("link", { name: "instance web1" }).first().waitFor();
  await f.ui().page.getByRole("link", { name: "node r1-u1" }).first().waitFor();
  await (await show("/operations", tenant)).getByRole("link", { name: "instance web1" }).first().waitFor();
  const [operation] = okOf(await g.call("GET", `/v1/operations?resource_scope=instance&resource_id=${web1.id}`));
  for (const as of [f.ui(), tenant]) {
    const page = await show(`/operations/${operation.id}`, as);
    await page.getByRole("link", { name: "web1" }).first().waitFor();
    const project = page.locator(`a[href$='/t/${g.tenant_id}/p/${g.project_id}/instances']`);
    expect(await project.textContent()).toBe("acme-project");
    // A tenant may not open the pages of nodes and of tenants.
    const forOperators = await page.locator("a[href*='/nodes/'], a[href*='/tenants/']").count() > 0;
    expect(forOperators).toBe(as === f.ui());
  }
}, LIMIT_MS);

test("an instance's page names its node for operators only", async () => {
  await (await show(`/instances/${web1.id}`)).getByRole("link", { name: "r1-u1" }).waitFor();
  const theirs = await show(`/instances/${web1.id}`, tenant);
  await theirs.getByText("Placement group").waitFor();
  expect(await theirs.innerText()).not.toContain(node.server_uuid);
}, LIMIT_MS);

test("the audit names users, and the newest event has no link to a next event", async () => {
  const body = { username: "alice", password: "correct horse battery" };
  okOf(await f.site().call("POST", "/v1/system/users", { body: { ...body, capabilities: ["system-read"] } }));
  const login = await f.site().call("POST", "/v1/auth/login", { key: null, body });
  const { access_token } = okOf(login);
  await f.site().call("POST", "/v1/auth/api-keys", { key: access_token, body: { description: "a key" } });
  await (await show("/audit")).getByRole("gridcell", { name: "alice" }).first().waitFor();
  const { head } = okOf(await f.site().call("GET", "/v1/audit/events?order=desc&limit=1"));
  const neighbours = async (seq: number) => {
    const page = await show(`/audit/${seq}`);
    return await page.getByRole("navigation", { name: "Neighbouring events" }).getByRole("link").allTextContents();
  };
  expect(await neighbours(head.seq)).toEqual([`Event ${head.seq - 1}`]);
  expect(await neighbours(head.seq - 1)).toEqual([`Event ${head.seq - 2}`, `Event ${head.seq}`]);
}, LIMIT_MS);

test("the audit shows 500 more events on request, and another search begins with 500 again", async () => {
  const page = f.ui().page;
  for (let round = 0; round < 36; round++) {
    const body = { role: round % 2 === 0 ? "both" : "tenant" };
    const change = () => f.site().call("POST", `/v1/cns/${node.server_uuid}/role`, { body });
    for (const answer of await Promise.all(Array.from({ length: 30 }, change))) okOf(answer);
  }
  const main = await show("/audit");
  await main.getByText("500 events", { exact: true }).waitFor();
  await main.getByRole("button", { name: /^Older than event/ }).click();
  await main.getByText("1,000 events", { exact: true }).waitFor();
  await main.getByRole("searchbox").fill("action:cn_set_role");
  await main.getByText("500 events", { exact: true }).waitFor();
  expect(page.url()).toContain("action");
}, LIMIT_MS);

test("the page of an object that does not exist states the kind and the id", async () => {
  const id = "00000000-0000-4000-8000-000000000000";
  const pages = [
    ["/nodes", "node"],
    ["/jobs", "job"],
    ["/operations", "operation"],
    ["/instances", "instance"],
    ["/vpcs", "VPC"],
    ["/tenants", "tenant"],
    ["/nat-gateways", "NAT gateway"],
    ["/webhooks", "webhook"],
  ];
  for (const [path, kind] of pages) {
    const main = await show(`${path}/${id}`);
    await main.getByRole("alert").getByText(`There is no ${kind} ${id}`).waitFor();
  }
  await (await show("/audit/999999")).getByText("There is no event 999999").waitFor();
}, LIMIT_MS);

test("without a limit, the usage has no bar, and the dialog of the quota explains the sizes", async () => {
  const main = await show(`/tenants/${g.tenant_id}`);
  await main.getByText("1, no limit").first().waitFor();
  expect(await main.locator(".bar").count()).toBe(0);
  await main.getByRole("button", { name: "Set the quota" }).click();
  const dialog = f.ui().page.getByRole("dialog");
  expect(await dialog.getByText("A size with its unit, such as 64 GiB").count()).toBe(2);
  await dialog.getByRole("button", { name: "Cancel" }).click();
}, LIMIT_MS);

test("the page of a factory reset says that instances prevent the reset", async () => {
  const main = await show(`/nodes/${node.server_uuid}/factory-reset`);
  await main.getByText("The server refuses the reset while instances are placed on the node.").waitFor();
}, LIMIT_MS);

test("an optional choice states the meaning of its empty value", async () => {
  const main = await show(`/instances/${web1.id}/rebuild`, tenant);
  await main.getByRole("option", { name: /^its present image/ }).waitFor({ state: "attached" });
  const form = await show(`/t/${g.tenant_id}/p/${g.project_id}/new-instance`, tenant);
  expect(await form.getByLabel(/^SSH key/).locator("option").first().textContent()).toBe("none");
}, LIMIT_MS);

test("the server searches the instances of all tenants by name and address, and filters them by state", async () => {
  const [nic] = okOf(await g.call("GET", `/v1/nics?instance=${web1.id}`)).items;
  const main = await show(`/all-instances?q=${nic.primary_ipv4}`);
  await main.getByRole("link", { name: "web1" }).waitFor();
  const read = f.ui().page.waitForRequest((request) => request.url().includes("/v1/system/instances?"));
  await show("/all-instances?state=stopped&q=web1");
  expect(Object.fromEntries(new URL((await read).url()).searchParams))
    .toEqual({ limit: "1000", state: "stopped", q: "web1" });
  await main.getByText("No instance matches.").waitFor();
}, LIMIT_MS);

test("the list shows a dash as the brand of an instance without a brand", async () => {
  const main = await show("/all-instances");
  await main.getByRole("link", { name: "web1" }).waitFor();
  expect(await main.getByText("not-applicable").count()).toBe(0);
}, LIMIT_MS);

test("the overview lists a node only once if its setup failed and it waits for a new setup", async () => {
  const other = await addNode(f.site(), {}, { hostname: "r1-u7" });
  const setUp = "update cn set state = 'awaiting_setup', last_setup_error = 'no disk' where server_uuid = $1";
  await f.site().db.query(setUp, [other.server_uuid]);
  const main = await show("/overview");
  await main.getByText("setup failed").waitFor();
  expect(await main.locator("li", { hasText: "r1-u7" }).allTextContents())
    .toEqual(["r1-u7waits for its setupsetup failed"]);
}, LIMIT_MS);

test("at 1,280 pixels, the lists of instances and of tenants show whole UUIDs", async () => {
  for (const path of ["/all-instances", "/tenants"]) {
    const main = await show(path);
    const cells = main.getByRole("gridcell").filter({ has: f.ui().page.locator("code") });
    await cells.first().waitFor();
    const excess = await cells.evaluateAll((all) => all.map((cell) => cell.scrollWidth - cell.clientWidth));
    expect(Math.max(...excess), path).toBe(0);
  }
}, LIMIT_MS);

test("the command that adds an SSH key has the key's path without quotes, so that a shell expands ~", async () => {
  const main = await show("/me", tenant);
  await main.getByRole("button", { name: /^Add an SSH key/ }).click();
  const dialog = tenant.page.getByRole("dialog");
  await dialog.getByText("tenantctl ssh-key create --name laptop --public-key-file ~/.ssh/id_ed25519.pub").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
}, LIMIT_MS);

test("the user's own page shows commands of opsctl to an operator and of tenantctl to a tenant's user", async () => {
  for (const [as, program] of [[f.ui(), "opsctl"], [tenant, "tenantctl"]] as const) {
    const main = await show("/me", as);
    await main.getByRole("button", { name: /^Create an API key/ }).click();
    await as.page.getByRole("dialog").getByText(new RegExp(`^${program} api-key create`)).waitFor();
    await as.page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  }
}, LIMIT_MS);

test("the copied commands about a tenant name its silo", async () => {
  const named = okOf(await f.site().call("GET", "/v1/silos"));
  const silo = named.find(({ id }: { id: string }) => id === g.silo_id);
  const main = await show(`/tenants/${g.tenant_id}`);
  const name = await main.getByRole("heading", { level: 1 }).textContent();
  await main.getByText(`opsctl tenant show ${silo.name}/${name}`).waitFor();
}, LIMIT_MS);

test("the page of the root operator lists no keys of nodes", async () => {
  const main = await show("/me");
  await main.getByText("root operator").first().waitFor();
  await main.getByText(/^The keys of nodes are not listed here/).waitFor();
  expect(await main.getByText(/^agent: cn/).count()).toBe(0);
}, LIMIT_MS);

test("the sign-in page shows the login commands of opsctl and tenantctl", async () => {
  const out = await f.site().open({ key: null });
  for (const program of ["opsctl", "tenantctl"]) {
    await out.page.getByText(`${program} login --endpoint ${f.site().url} --username NAME`).waitFor();
  }
  expect(await out.axe()).toEqual([]);
  await out.page.context().close();
}, LIMIT_MS);

test("the nodes page says when an open auto-approve window ends, and no heading of its list is cut off", async () => {
  const main = await show("/nodes");
  await main.getByText("Last heartbeat").waitFor();
  const cut = await main.locator("th").evaluateAll((cells) =>
    cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent)
  );
  expect(cut).toEqual([]);
  okOf(await f.site().call("POST", "/v1/cn-auto-approve", { body: { duration_secs: 600, count: 1 } }));
  await main.getByText(/^Every node that registers is approved\. The window ends in \d+ min, or after 1 more node\.$/)
    .waitFor();
  await f.site().call("DELETE", "/v1/cn-auto-approve");
}, LIMIT_MS);

test("the doctor shows skipped checks last, each with the reason", async () => {
  const main = await show("/doctor");
  await main.getByRole("button", { name: "Run the checks" }).click();
  await main.getByText("Not checked:").first().waitFor();
  const states = await main.locator(".checks .state").allTextContents();
  expect(states.indexOf("skip")).toBeGreaterThan(states.lastIndexOf("ok"));
  expect(await main.getByText(/was found$/).count()).toBe(0);
}, LIMIT_MS);

test("no page has violated the content security policy", () =>
  expect([...f.ui().faults, ...tenant.faults]).toEqual([]));
