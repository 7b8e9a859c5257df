// Tests the pages of a tenant in unusual cases. For example, another user changes the same object, or the server
// refuses a part of the request.
import type { Dialog, Route } from "playwright-core";
import { describe, expect, test } from "vitest";
import { addNode } from "../compute/compute-fixture.ts";
import { type InstanceFixture, makeInstance, openInstanceFixture } from "../compute/instance-fixture.ts";
import type { ConsolePage } from "../support/browser.ts";
import { okOf } from "../support/control-plane.ts";
import { useKeyboard } from "./keyboard.ts";
import { serveJobs, useConsoleSite } from "./site.ts";

/** The time limit of one test on a busy machine, in milliseconds. */
const LIMIT_MS = 120_000;

let g: InstanceFixture;
let web1: { readonly id: string };
let own: ConsolePage;

const f = useConsoleSite(async (site) => {
  serveJobs(await addNode(site));
  g = await openInstanceFixture(site, {
    url: "https://images.example/linux",
    sha256: "5e".repeat(32),
    size_bytes: 2 ** 30,
  });
  web1 = okOf(await makeInstance(g, { name: "web1" }));
  okOf(await g.call("POST", `/v1/instances/${web1.id}/stop`));
  own = await site.open({ key: g.key });
});
const keyboard = useKeyboard(() => own.page);
const list = async (path: string) => okOf(await g.call("GET", path)).items;
const pathOf = (page: string) => `/t/${g.tenant_id}/p/${g.project_id}/${page}`;

/** Opens the form of an action, changes the object as another user, and then fills the form and sends it. */
async function saveAfter(title: string, theirs: readonly [path: string, body: object], mine: Record<string, string>) {
  await keyboard.act(title);
  await own.page.getByRole("dialog").getByRole("heading").waitFor();
  const [path, body] = theirs;
  okOf(await g.call("PATCH", path, { body }));
  await keyboard.fill(mine);
  await keyboard.press("Control+Enter");
  await own.page.getByRole("dialog").getByRole("heading").waitFor({ state: "detached" });
  return okOf(await g.call("GET", path));
}

test(
  "a save of an instance's form keeps another user's change to a field that the form did not change",
  async () => {
    const path = `/v1/instances/${web1.id}`;
    await keyboard.open(`/instances/${web1.id}`, "web1");
    const named = await saveAfter("Rename or describe", [path, { name: "web2" }], { Description: "shop" });
    expect(named).toMatchObject({ name: "web2", description: "shop" });
    const sized = await saveAfter("Resize", [path, { cpu: 2 }], { Memory: "2 GiB" });
    expect(sized).toMatchObject({ cpu: 2, memory_bytes: 2 ** 31 });
    const [nic] = await list(`/v1/nics?instance=${web1.id}`);
    const addressed = await saveAfter(
      `Change the addresses of NIC ${nic.name}`,
      [`/v1/nics/${nic.id}`, { additional_ips: ["10.0.1.77"] }],
      { "Allowed blocks": "10.0.7.0/24" },
    );
    expect(addressed).toMatchObject({ additional_ips: ["10.0.1.77"], allowed_cidrs: ["10.0.7.0/24"] });
  },
  LIMIT_MS,
);

test("the command of an edit clears an emptied field, and is not shown while nothing is changed", async () => {
  const path = `/v1/instances/${web1.id}`;
  const { name } = okOf(await g.call("PATCH", path, { body: { description: "shop" } }));
  const commands = own.page.getByRole("dialog").getByText("tenantctl");
  await keyboard.open(`/instances/${web1.id}`, name);
  await keyboard.act("Rename or describe");
  await own.page.getByRole("dialog").getByRole("heading").waitFor();
  expect(await commands.count()).toBe(0);
  await keyboard.focus("Description");
  await keyboard.press("Control+a");
  await keyboard.press("Delete");
  await own.page.getByText(`tenantctl instance update ${name} --description ''`, { exact: true }).waitFor();
  await keyboard.press("Control+Enter");
  await expect.poll(async () => okOf(await g.call("GET", path)).description).toBe("");
}, LIMIT_MS);

test(
  "a save of the form of a placement group or a port forward keeps another user's change to another field",
  async () => {
    const group = okOf(await g.call("POST", `/v1/placement-groups${g.selectors}`, { body: { name: "spread" } }));
    const groupPath = `/v1/placement-groups/${group.id}`;
    await keyboard.open(pathOf("placement-groups"), "Placement groups");
    await own.page.getByRole("gridcell", { name: "spread", exact: true }).waitFor();
    const theirs = { description: "theirs" };
    expect(await saveAfter("Rename spread", [groupPath, theirs], { Name: "apart" }))
      .toMatchObject({ name: "apart", description: "theirs" });

    const [vpc] = await list(`/v1/vpcs${g.selectors}`);
    const gateway = okOf(await g.call("POST", `/v1/nat-gateways?vpc=${vpc.id}`, { body: { name: "out" } }));
    const [nic] = await list(`/v1/nics?instance=${web1.id}`);
    const body = { name: "https", nat_gateway_id: gateway.id, nic_id: nic.id, public_port: 443 };
    const forward = okOf(await g.call("POST", `/v1/port-forwards?vpc=${vpc.id}`, { body }));
    await keyboard.open(`/nat-gateways/${gateway.id}`, "out");
    await own.page.getByRole("gridcell", { name: "https", exact: true }).waitFor();
    expect(await saveAfter("Rename https", [`/v1/port-forwards/${forward.id}`, theirs], { Name: "web" }))
      .toMatchObject({ name: "web", description: "theirs" });
  },
  LIMIT_MS,
);

test("if the first subnet of a new VPC is refused, no VPC stays, and the corrected form creates both", async () => {
  const named = async (name: string) =>
    (await list(`/v1/vpcs${g.selectors}`)).filter((vpc: { name: string }) => vpc.name === name);
  const dialog = own.page.getByRole("dialog");
  await keyboard.open(pathOf("networks"), "VPCs");
  await keyboard.press("c");
  await keyboard.fill({ Name: "shop", "IPv4 block": "10.20.0.0/16", "Block of the subnet": "10.30.1.0/24" });
  await dialog.getByText("tenantctl subnet create --vpc shop --name shop --ipv4-block 10.30.1.0/24").waitFor();
  await keyboard.press("Control+Enter");
  await dialog.getByRole("alert").getByText("10.30.1.0/24 is not inside 10.20.0.0/16").waitFor();
  expect(await named("shop")).toEqual([]);
  await keyboard.fill({ "Block of the subnet": "10.20.1.0" });
  await keyboard.press("Control+Enter");
  await dialog.locator("[name=subnet_block][aria-invalid]").waitFor();
  expect(await named("shop")).toEqual([]);

  const isDelete = (method: string) => method === "DELETE";
  await own.page.route(
    "**/v1/vpcs/*",
    (route) =>
      isDelete(route.request().method())
        ? route.fulfill({ status: 409, json: { message: "the vpc is in use" } })
        : route.continue(),
  );
  await keyboard.fill({ Name: "half", "Block of the subnet": "10.30.1.0/24" });
  await keyboard.press("Control+Enter");
  await dialog.getByText("The VPC exists and could not be deleted: the vpc is in use").waitFor();
  await own.page.unroute("**/v1/vpcs/*");

  await own.page.route("**/v1/subnets?*", async (route) => {
    await route.fetch();
    await route.abort();
  }, { times: 1 });
  await keyboard.fill({ Name: "lost", "Block of the subnet": "10.20.1.0/24" });
  await keyboard.press("Control+Enter");
  await dialog.getByText("The server does not answer").waitFor();
  await keyboard.fill({ "Block of the subnet": "10.20.2.0/24" });
  await keyboard.press("Control+Enter");
  await dialog.getByText(/The VPC exists and could not be deleted: vpc \S+ still holds/).waitFor();

  await keyboard.fill({ Name: "shop", "Block of the subnet": "10.20.1.0/24" });
  await keyboard.press("Control+Enter");
  await own.page.getByRole("status").getByText("VPC shop is created").waitFor();
  const [lost] = await named("lost");
  expect(await list(`/v1/subnets?vpc=${lost.id}`)).toMatchObject([{ name: "lost", ipv4_block: "10.20.1.0/24" }]);
  const [vpc] = await named("shop");
  expect(await list(`/v1/subnets?vpc=${vpc.id}`)).toMatchObject([{ name: "shop", ipv4_block: "10.20.1.0/24" }]);
}, LIMIT_MS);

test("on the page of a VPC, a NAT gateway or a webhook, the navigation shows the project of the object", async () => {
  const [vpc] = await list(`/v1/vpcs${g.selectors}`);
  const gateway = okOf(await g.call("POST", `/v1/nat-gateways?vpc=${vpc.id}`, { body: { name: "way" } }));
  const body = { name: "chat", url: "https://hooks.example/berth" };
  const webhook = okOf(await g.call("POST", `/v1/webhooks${g.selectors}`, { body }));
  const projects = `/v1/tenants/${g.tenant_id}/projects`;
  const other = okOf(await f.site().call("POST", projects, { body: { name: "other" } }));
  const link = (project: string) =>
    own.page.getByRole("navigation", { name: "Main" })
      .locator(`a[href$="/t/${g.tenant_id}/p/${project}/webhooks"]`).waitFor();
  for (
    const [path, name] of [
      [`/vpcs/${vpc.id}`, vpc.name],
      [`/nat-gateways/${gateway.id}`, "way"],
      [`/webhooks/${webhook.id}`, "chat"],
    ]
  ) {
    await keyboard.open(`/t/${g.tenant_id}/p/${other.id}/quota`, "Quota");
    await link(other.id);
    await keyboard.open(path, name);
    await link(g.project_id);
  }
}, LIMIT_MS);

describe("if the user goes to another page before the server answers, that page shows the result of:", () => {
  const refused = { status: 409, json: { message: "the instance has a snapshot" } };

  /** Sends a form, and holds the request until the test calls `accept` or `refuse`. */
  async function sendAndHold(url: string, confirm: () => Promise<void>) {
    const asked = Promise.withResolvers<Route>();
    await own.page.route(url, (route) => route.request().method() === "GET" ? route.continue() : asked.resolve(route));
    await confirm();
    await keyboard.press("Control+Enter");
    const route = await asked.promise;
    return {
      accept: () => route.continue(),
      refuse: () => route.fulfill(refused),
    };
  }
  const deletion = ({ id, name }: { readonly id: string; readonly name: string }) =>
    sendAndHold(`**/v1/instances/${id}`, async () => {
      await keyboard.open(pathOf("quota"), "Quota");
      await keyboard.open(`/instances/${id}`, name);
      await keyboard.act("Delete");
      await keyboard.fill({ [`Type ${name} to delete it`]: name });
    });
  const said = (text: string) => own.page.getByRole("status").getByText(text, { exact: true }).waitFor();
  /** Returns the heading of the page after the page has finished its requests. */
  const heading = async () => {
    await own.settled();
    return await own.page.getByRole("heading", { level: 1 }).textContent();
  };

  test("a deletion whose dialog the user closed", async () => {
    const app = okOf(await makeInstance(g, { name: "app1" }));
    okOf(await g.call("POST", `/v1/instances/${app.id}/stop`));
    const { accept } = await deletion(app);
    await keyboard.press("Escape");
    await keyboard.open(pathOf("networks"), "VPCs");
    await accept();
    await said("app1 is being deleted");
    expect(await heading()).toBe("VPCs");
  }, LIMIT_MS);

  test("a deletion and a refusal after the Back button, which also closes the dialog", async () => {
    const app = okOf(await makeInstance(g, { name: "app2" }));
    okOf(await g.call("POST", `/v1/instances/${app.id}/stop`));
    const first = await deletion(app);
    await own.page.goBack();
    await keyboard.waitForHeading("Quota");
    await own.page.getByRole("dialog").waitFor({ state: "detached" });
    await first.refuse();
    await said("Delete: the instance has a snapshot");
    await own.page.unroute(`**/v1/instances/${app.id}`);
    const second = await deletion(app);
    await own.page.goBack();
    await keyboard.waitForHeading("Quota");
    await second.accept();
    await said("app2 is being deleted");
    expect(await heading()).toBe("Quota");
  }, LIMIT_MS);

  test("an edit of an instance; the browser does not warn of unsent input, because the form was sent", async () => {
    const { name } = okOf(await g.call("GET", `/v1/instances/${web1.id}`));
    const { accept } = await sendAndHold(`**/v1/instances/${web1.id}`, async () => {
      await keyboard.open(pathOf("quota"), "Quota");
      await keyboard.open(`/instances/${web1.id}`, name);
      await keyboard.act("Rename or describe");
      await keyboard.fill({ Description: "sent" });
    });
    const questions: string[] = [];
    const leave = (dialog: Dialog) => {
      questions.push(dialog.message());
      void dialog.accept();
    };
    own.page.on("dialog", leave);
    await own.page.goBack();
    await keyboard.waitForHeading("Quota");
    await accept();
    await said("Rename or describe: done");
    expect(questions).toEqual([]);
    own.page.off("dialog", leave);
    await own.page.unroute(`**/v1/instances/${web1.id}`);
  }, LIMIT_MS);

  test("a form that has its own page", async () => {
    const { name } = okOf(await g.call("GET", `/v1/instances/${web1.id}`));
    const { accept } = await sendAndHold(`**/v1/instances/${web1.id}/rebuild`, async () => {
      await keyboard.open(`/instances/${web1.id}/rebuild`, `Rebuild ${name}`);
      await keyboard.fill({ [`Type ${name} to rebuild it`]: name });
    });
    await keyboard.open(pathOf("networks"), "VPCs");
    await accept();
    await said(`${name} is being rebuilt`);
    expect(await heading()).toBe("VPCs");
  }, LIMIT_MS);
});

test("if the tenant has several projects, the commands name the shown project", async () => {
  okOf(await f.site().call("POST", `/v1/tenants/${g.tenant_id}/projects`, { body: { name: "one more" } }));
  const { name: project } = okOf(await g.call("GET", `/v1/tenants/${g.tenant_id}/projects/${g.project_id}`));
  const { name } = okOf(await g.call("GET", `/v1/instances/${web1.id}`));
  await own.show(`/instances/${web1.id}`);
  await own.page.reload();
  await own.page.getByText(`tenantctl instance show ${name} --project ${project}`, { exact: true }).waitFor();
  await own.show(`/t/${g.tenant_id}/p/${g.project_id}/quota`);
  await own.page.getByText(`tenantctl quota show --project ${project}`, { exact: true }).waitFor();
}, LIMIT_MS);
