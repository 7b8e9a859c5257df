// Tests the flows of a tenant with the keyboard alone: instances, a floating IP that moves, a firewall. Most
// titles list the user's steps. The tests act as the nodes.
import { expect, test } from "vitest";
import { addNode } from "../compute/compute-fixture.ts";
import { type InstanceFixture, openInstanceFixture } from "../compute/instance-fixture.ts";
import { type ConsolePage } from "../support/browser.ts";
import { okOf } from "../support/control-plane.ts";
import { useKeyboard } from "./keyboard.ts";
import { serveJobs, useConsoleSite } from "./site.ts";

let g: InstanceFixture;
let own: ConsolePage;

/** The time limit of one flow on a busy machine, in milliseconds. */
const LIMIT_MS = 120_000;

const f = useConsoleSite(async (site) => {
  const node = await addNode(site);
  serveJobs(node);
  g = await openInstanceFixture(site, {
    url: "https://images.example/linux",
    sha256: "5e".repeat(32),
    size_bytes: 2 ** 30,
  });
  own = await site.open({ key: g.key });
});
const keyboard = useKeyboard(() => own.page);

const pathOf = (page: string) => `/t/${g.tenant_id}/p/${g.project_id}/${page}`;
const instances = async () => okOf(await g.call("GET", `/v1/instances${g.selectors}`)).items;

test("create an instance with a floating IP in one form: the page follows the instance until it runs", async () => {
  okOf(await g.call("POST", `/v1/floating-ips${g.selectors}`, { body: { name: "public", family: "v4" } }));
  await keyboard.open(pathOf("instances"), "Instances");
  await keyboard.press("c");
  await keyboard.waitForHeading("Create an instance");
  await keyboard.fill({ Name: "web1", vCPUs: "2" });
  await keyboard.focus("Floating IP");
  await keyboard.type("public");
  await keyboard.press("Control+Enter");
  await keyboard.waitForHeading("web1");
  await own.page.locator(".heading .state").getByText("running").waitFor();
  const address = okOf(await g.call("GET", `/v1/floating-ips${g.selectors}`)).items[0].address;
  await own.page.locator("strong").getByText(address).waitFor();
}, LIMIT_MS);

test(
  "create several instances: after a refusal the page names the created instances, and the next attempt creates the rest",
  async () => {
    const quota = `/v1/tenants/${g.tenant_id}/projects/${g.project_id}/quota`;
    const limits = { cpu_limit: 100, memory_bytes: 2 ** 40, disk_bytes: 2 ** 40 };
    okOf(await f.site().call("PUT", quota, { body: { ...limits, instance_limit: 2 } }));
    await keyboard.open(pathOf("new-instance"), "Create an instance");
    await keyboard.fill({ Name: "app-ü", Count: "2" });
    await keyboard.press("Enter");
    await own.page.getByRole("alert").getByText("1 of 2 are being created: app-ü-1. app-ü-2:").waitFor();
    okOf(await f.site().call("PUT", quota, { body: { ...limits, instance_limit: 9 } }));
    await keyboard.focusButton("Create");
    await keyboard.press("Enter");
    await keyboard.waitForHeading("Instances");
    await own.page.getByRole("link", { name: "app-ü-2" }).waitFor();
    expect((await instances()).map(({ name }: { name: string }) => name).sort()).toEqual([
      "app-ü-1",
      "app-ü-2",
      "web1",
    ]);
  },
  LIMIT_MS,
);

test("move a floating IP from the list: the dialog names the old and the new instance", async () => {
  await expect.poll(
    async () =>
      (await instances()).every(({ lifecycle }: { lifecycle: { state: string } }) => lifecycle.state === "running"),
    {
      timeout: 20_000,
    },
  ).toBe(true);
  await keyboard.open(pathOf("floating-ips"), "Floating IPs");
  await own.page.getByRole("link", { name: "web1" }).waitFor();
  await keyboard.act("move");
  await own.page.getByText("The address is detached from web1 first.").waitFor();
  await keyboard.focus("To");
  await keyboard.type("app-");
  await keyboard.press("Control+Enter");
  await own.page.locator("tbody").getByRole("link", { name: "app-ü-1" }).waitFor();
  const [address] = okOf(await g.call("GET", `/v1/floating-ips${g.selectors}`)).items;
  const app = (await instances()).find(({ name }: { name: string }) => name === "app-ü-1");
  expect(address.attached_instance_id).toBe(app.id);
}, LIMIT_MS);

test("opening a link with ?attach= to a running instance does not move another instance's floating IP", async () => {
  const [before] = okOf(await g.call("GET", `/v1/floating-ips${g.selectors}`)).items;
  const web = (await instances()).find(({ name }: { name: string }) => name === "web1");
  expect(before.attached_instance_id).not.toBe(web.id);
  const writes: string[] = [];
  own.page.on("request", (request) => {
    if (request.method() !== "GET") writes.push(request.url());
  });
  await keyboard.open(`/instances/${web.id}?attach=${before.id}`, "web1");
  await own.page.locator(".heading .state").getByText("running").waitFor();
  await own.settled();
  expect(writes).toEqual([]);
  const [after] = okOf(await g.call("GET", `/v1/floating-ips${g.selectors}`)).items;
  expect(after.attached_instance_id).toBe(before.attached_instance_id);
}, LIMIT_MS);

test(
  "edit the firewall in its table, apply all edits at once, see a concurrent change, and check a packet",
  async () => {
    const [vpc] = okOf(await g.call("GET", `/v1/vpcs${g.selectors}`)).items;
    const path = `/v1/vpcs/${vpc.id}/firewall-rules`;
    const rules = async () =>
      okOf(await g.call("GET", path)).items.map(({ name, priority }: Record<string, unknown>) => [name, priority])
        .sort();
    await keyboard.open(`/vpcs/${vpc.id}`, vpc.name);
    await keyboard.focusButton("Add a rule");
    await keyboard.press("Enter");
    await keyboard.fill({ "Name of the new rule": "ssh" });
    await keyboard.fill({ "Priority of ssh": "200", "Ports of ssh": "22" });
    await own.page.getByText("1 change, not applied yet").waitFor();
    expect(await rules()).toEqual([]);
    await keyboard.focusButton("Apply");
    await keyboard.press("Enter");
    await own.page.getByText("The firewall is applied").waitFor();
    expect(await rules()).toEqual([["ssh", 200]]);

    await keyboard.fill({ "Priority of ssh": "300" });
    const theirs = { name: "web", direction: "inbound", action: "allow", priority: 100 };
    okOf(await g.call("POST", `/v1/firewall-rules?vpc=${vpc.id}`, { body: theirs }));
    await own.page.getByText("Meanwhile someone else changed the firewall").waitFor();
    await own.page.getByText("adds web").waitFor();
    await keyboard.focusButton("Discard");
    await keyboard.press("Enter");
    await own.page.getByLabel("Name of web").waitFor();
    expect(await rules()).toEqual([["ssh", 200], ["web", 100]]);

    await keyboard.focusAt("form[aria-label='Would this packet pass?'] input[name=source]");
    await keyboard.type("198.51.100.7");
    await keyboard.press("Tab");
    await keyboard.type("10.0.1.5");
    await keyboard.press("Tab");
    await keyboard.type("22");
    await keyboard.press("Enter");
    await own.page.getByText("Passes: the rule ssh decides.").waitFor();
    await keyboard.type("2222");
    await own.page.getByText("Passes: the rule ssh decides.").waitFor({ state: "detached" });
    await keyboard.press("Enter");
    await own.page.getByText("A tcp packet needs a port, 1 to 65535.").waitFor();
  },
  LIMIT_MS,
);

test("add, detach and delete a data disk, and set labels and the protection on the instance's page", async () => {
  const web1 = (await instances()).find(({ name }: { name: string }) => name === "web1");
  const disks = async () =>
    okOf(await g.call("GET", `/v1/disks?instance=${web1.id}`)).items
      .filter(({ kind }: { kind: string }) => kind === "data")
      .map(({ name, attached }: Record<string, unknown>) => [name, attached]);
  await keyboard.open(`/instances/${web1.id}`, "web1");
  await keyboard.act("Add a data disk");
  await keyboard.fill({ Name: "data", Size: "1 GiB" });
  await keyboard.press("Control+Enter");
  const button = (name: string) => own.page.getByRole("button", { name, exact: true });
  await button("Detach data").waitFor();
  expect(await disks()).toEqual([["data", true]]);
  await keyboard.focusButton("Detach data");
  await keyboard.press("Enter");
  await own.page.getByText("Its data stays.").waitFor();
  await keyboard.press("Control+Enter");
  await button("Attach data").waitFor();
  expect(await disks()).toEqual([["data", false]]);
  await keyboard.focusButton("Delete data");
  await keyboard.press("Enter");
  await keyboard.fill({ "Type data to delete it": "data" });
  await keyboard.press("Control+Enter");
  await button("Delete data").waitFor({ state: "detached" });
  expect(await disks()).toEqual([]);

  await keyboard.act("Set labels");
  await keyboard.fill({ Labels: "env=test" });
  await own.page.getByText("tenantctl instance update web1 --label env=test").waitFor();
  await keyboard.press("Control+Enter");
  await own.page.getByText("env=test", { exact: true }).waitFor();
  await keyboard.act("Protect against deletion");
  await own.page.getByText("Every delete is refused until").waitFor();
  await keyboard.press("Control+Enter");
  await own.page.getByText("refused: the instance is protected").waitFor();
  const { labels, deletion_protection } = okOf(await g.call("GET", `/v1/instances/${web1.id}`));
  expect([labels, deletion_protection]).toEqual([{ env: "test" }, true]);
}, LIMIT_MS);

test("no page of the tenant has violated the content security policy", () => expect(own.faults).toEqual([]));
