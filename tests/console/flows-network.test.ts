// Tests the pages of networks with the keyboard alone: port forwards, routes, subnets, firewall rules, NICs and labels.
// Most titles list the user's steps.
import type { Dialog } from "playwright-core";
import { expect, test } from "vitest";
import { makeInstance } from "../compute/instance-fixture.ts";
import { okOf } from "../support/control-plane.ts";
import { type FlowObjects, LIMIT_MS, makeFlowObjects } from "./flow-objects.ts";
import { useKeyboard } from "./keyboard.ts";
import { useConsoleSite } from "./site.ts";

let g: FlowObjects["g"];
let idle: FlowObjects["idle"];

const f = useConsoleSite(async (site) => {
  ({ g, idle } = await makeFlowObjects(site));
});
const keyboard = useKeyboard(() => f.ui().page);
const page = () => f.ui().page;
const list = async (path: string) => okOf(await g.call("GET", path)).items;

test("forward a port of a gateway, rename the forward, delete it", async () => {
  const [vpc] = await list(`/v1/vpcs${g.selectors}`);
  const forwards = async () =>
    (await list(`/v1/port-forwards?vpc=${vpc.id}&project=${g.project_id}`))
      .map((
        { name, protocol, public_port, nic_port }: Record<string, unknown>,
      ) => [name, protocol, public_port, nic_port]);
  await keyboard.open(`/vpcs/${vpc.id}`, vpc.name);
  await keyboard.act("Create a NAT gateway");
  await keyboard.fill({ Name: "out" });
  await keyboard.press("Control+Enter");
  await keyboard.focusLink("out");
  await keyboard.press("Enter");
  await keyboard.waitForHeading("out");
  await page().getByText("The gateway forwards no port.").waitFor();
  await page().getByRole("button", { name: "Forward a port c" }).and(page().locator(":not([aria-disabled])")).waitFor();
  await keyboard.press("c");
  await keyboard.fill({ Name: "https", "Public port": "443", "Port of the NIC": "8443" });
  await page().getByText(`tenantctl port-forward create --vpc ${vpc.name} --name https --nat-gateway out`).waitFor();
  await keyboard.press("Control+Enter");
  await page().getByText("443/tcp").waitFor();
  expect(await forwards()).toEqual([["https", "tcp", 443, 8443]]);
  await keyboard.act("Rename https");
  await keyboard.fill({ Name: "web" });
  await keyboard.press("Control+Enter");
  await page().getByRole("gridcell", { name: "web", exact: true }).waitFor();
  await keyboard.act("Delete web");
  await keyboard.press("Control+Enter");
  await page().getByText("The gateway forwards no port.").waitFor();
  expect(await forwards()).toEqual([]);
}, LIMIT_MS);

test(
  "create a route table with a route to the gateway, let a subnet use the table, label all three, and delete them",
  async () => {
    const [vpc] = await list(`/v1/vpcs${g.selectors}`);
    const [subnet] = await list(`/v1/subnets?vpc=${vpc.id}`);
    const tables = () => list(`/v1/route-tables?vpc=${vpc.id}`);
    const tableNamed = async (wanted: string) =>
      (await tables()).find(({ name }: { name: string }) => name === wanted) as { readonly id: string };
    const send = () => keyboard.press("Control+Enter");
    const label = async (title: string, text: string) => {
      await keyboard.act(`Set labels of ${title}`);
      await keyboard.fill({ Labels: text });
      await send();
      await page().getByText(text, { exact: true }).waitFor();
    };
    await keyboard.open(`/vpcs/${vpc.id}`, vpc.name);
    await keyboard.act("Create a route table");
    await keyboard.fill({ Name: "public" });
    await send();
    await page().getByRole("button", { name: "Add a route to public", exact: true }).waitFor();
    await keyboard.act("Add a route to public");
    await keyboard.fill({ Name: "default", Destination: "0.0.0.0/0" });
    const line =
      `tenantctl route create --vpc ${vpc.name} --route-table public --name default --destination 0.0.0.0/0 `;
    await page().getByText(`${line}--target-nat-gateway out`).waitFor();
    await send();
    await page().getByText("to the NAT gateway out").waitFor();
    await keyboard.act(`Set the route table of subnet ${subnet.name}`);
    await keyboard.focus("Route table");
    await keyboard.type("public");
    await send();
    await page().getByText("routes of public").waitFor();
    await label("route default of public", "to=internet");
    await label("route table public", "way=out");
    await label(`subnet ${subnet.name}`, "tier=front");
    const { id } = await tableNamed("public");
    expect(
      (await list(`/v1/routes?route_table=${id}`)).map(({ name, labels }: Record<string, unknown>) => [name, labels]),
    )
      .toEqual([["default", { to: "internet" }]]);
    expect(await list(`/v1/subnets?vpc=${vpc.id}`)).toMatchObject([{ route_table_id: id, labels: { tier: "front" } }]);

    await keyboard.act(`Set the route table of subnet ${subnet.name}`);
    await keyboard.focus("Route table");
    await keyboard.type("main");
    await send();
    await page().getByText("routes of main").waitFor();
    await keyboard.act("Delete route default of public");
    await send();
    await page().getByText("to the NAT gateway out").waitFor({ state: "detached" });
    await keyboard.act("Delete route table public");
    await send();
    await page().getByRole("button", { name: "Add a route to public", exact: true }).waitFor({ state: "detached" });
    expect(await tables()).toHaveLength(1);
  },
  LIMIT_MS,
);

test("create a subnet and delete it; the subnet of an instance cannot be deleted", async () => {
  const [vpc] = await list(`/v1/vpcs${g.selectors}`);
  const [used] = await list(`/v1/subnets?vpc=${vpc.id}`);
  await keyboard.open(`/vpcs/${vpc.id}`, vpc.name);
  await keyboard.act("Create a subnet");
  await keyboard.fill({ Name: "back", "IPv4 block": vpc.ipv4_block.replace(/\.0\/\d+$/, ".240/28") });
  await keyboard.press("Control+Enter");
  await page().getByRole("button", { name: "Delete subnet back", exact: true }).waitFor();
  await keyboard.act("Delete subnet back");
  await keyboard.press("Control+Enter");
  await page().getByRole("button", { name: "Delete subnet back", exact: true }).waitFor({ state: "detached" });
  await keyboard.act(`Delete subnet ${used.name}`);
  await keyboard.press("Control+Enter");
  await page().getByRole("dialog").getByText("NIC", { exact: false }).last().waitFor();
  await keyboard.press("Escape");
  expect(await list(`/v1/subnets?vpc=${vpc.id}`)).toHaveLength(1);
}, LIMIT_MS);

test("set the labels of a firewall rule; a later edit of the firewall keeps the labels", async () => {
  const [vpc] = await list(`/v1/vpcs${g.selectors}`);
  const rule = async () =>
    (await list(`/v1/firewall-rules?vpc=${vpc.id}`)).map((
      { name, priority, labels }: Record<string, unknown>,
    ) => [name, priority, labels]);
  await keyboard.open(`/vpcs/${vpc.id}`, vpc.name);
  await keyboard.act("Create a firewall rule");
  await keyboard.fill({ Name: "ssh", Ports: "22" });
  await keyboard.press("Control+Enter");
  await page().getByRole("button", { name: "Set labels of rule ssh", exact: true }).waitFor();
  await keyboard.act("Set labels of rule ssh");
  await keyboard.fill({ Labels: "owner=ops" });
  await page().getByText(`tenantctl firewall-rule update ssh --vpc ${vpc.name} --label owner=ops`).waitFor();
  await keyboard.press("Control+Enter");
  await page().getByText("owner=ops", { exact: true }).waitFor();
  await keyboard.fill({ "Priority of ssh": "200" });
  await keyboard.focusButton("Apply");
  await keyboard.press("Enter");
  await page().getByText("The firewall is applied").waitFor();
  expect(await rule()).toEqual([["ssh", 200, { owner: "ops" }]]);
  // After the user undoes an edit by hand, the table shows the changes of other users again.
  const unapplied = page().getByText("1 change, not applied yet");
  await keyboard.fill({ "Priority of ssh": "300" });
  await unapplied.waitFor();
  await keyboard.fill({ "Priority of ssh": "200" });
  await unapplied.waitFor({ state: "detached" });
  const [{ id }] = await list(`/v1/firewall-rules?vpc=${vpc.id}`);
  okOf(await g.call("PATCH", `/v1/firewall-rules/${id}`, { body: { priority: 400 } }));
  await expect.poll(() => page().getByLabel("Priority of ssh").inputValue()).toBe("400");
}, LIMIT_MS);

test("a rule can be added to a firewall only after the page has read the firewall's rules", async () => {
  const [vpc] = await list(`/v1/vpcs${g.selectors}`);
  // A new browser document begins with an empty store, so the page must read the rules.
  const own = await f.site().open();
  const held = Promise.withResolvers<void>();
  await own.page.route("**/firewall-rules", async (route) => {
    await held.promise;
    await route.continue();
  });
  await own.show(`/vpcs/${vpc.id}`);
  const add = (disabled: boolean) => own.page.getByRole("button", { name: "Add a rule", disabled });
  await add(true).waitFor();
  held.resolve();
  await add(false).press("Enter");
  await own.page.getByLabel("Name of the new rule").waitFor();
  await own.page.context().close();
}, LIMIT_MS);

test(
  "before a link, Back or a reload discards an edit of the firewall, the page asks, even if a dialog was closed before",
  async () => {
    const [vpc] = await list(`/v1/vpcs${g.selectors}`);
    await keyboard.open("/nodes", "Nodes");
    await keyboard.open(`/vpcs/${vpc.id}`, vpc.name);
    await page().getByRole("button", { name: "Add a rule", disabled: false }).waitFor();
    await keyboard.focusButton("Add a rule");
    await keyboard.press("Enter");
    await keyboard.fill({ "Name of the new rule": "web" });
    await page().getByText("1 change, not applied yet").waitFor();
    await keyboard.focusButton("Discard");
    await keyboard.act("Create a firewall rule");
    await keyboard.fill({ Name: "dns" });
    await keyboard.press("Escape");
    await page().getByRole("dialog").waitFor({ state: "detached" });

    const asked: string[] = [];
    const refuse = (dialog: Dialog) => {
      asked.push(dialog.type());
      return dialog.dismiss();
    };
    page().on("dialog", refuse);
    await keyboard.focusLink("Nodes");
    await keyboard.press("Enter");
    await expect.poll(() => asked).toEqual(["confirm"]);
    await page().evaluate("history.back()");
    await expect.poll(() => asked).toEqual(["confirm", "confirm"]);
    await page().evaluate("location.reload()");
    await expect.poll(() => asked).toEqual(["confirm", "confirm", "beforeunload"]);
    page().off("dialog", refuse);
    expect(new URL(page().url()).pathname).toBe(`/console/vpcs/${vpc.id}`);
    expect(await page().getByLabel("Name of web").inputValue()).toBe("web");

    await keyboard.focusButton("Discard");
    await keyboard.press("Enter");
    // Before this text disappears, the page would ask for confirmation, and Playwright would dismiss the dialog.
    await page().getByText("not applied yet").waitFor({ state: "detached" });
    await page().evaluate("history.back()");
    await keyboard.waitForHeading("Nodes");
  },
  LIMIT_MS,
);

test("add a NIC to a stopped instance, change its addresses, remove it", async () => {
  const [vpc] = await list(`/v1/vpcs${g.selectors}`);
  const [subnet] = await list(`/v1/subnets?vpc=${vpc.id}`);
  const cordon = async (cordoned: boolean) =>
    okOf(await f.site().call("PATCH", `/v1/cns/${idle.server_uuid}/placement`, { body: { cordoned } }));
  await cordon(true);
  const web2 = okOf(await makeInstance(g, { name: "web2" }));
  await cordon(false);
  okOf(await g.call("POST", `/v1/instances/${web2.id}/stop`));
  const nics = () => list(`/v1/nics?instance=${web2.id}`);
  await keyboard.open(`/instances/${web2.id}`, "web2");
  await keyboard.act("Add a NIC");
  await keyboard.fill({ Name: "backend" });
  await page().getByText(
    `tenantctl nic create --name backend --instance web2 --subnet ${subnet.name} --vpc ${vpc.name}`,
  ).waitFor();
  await keyboard.press("Control+Enter");
  await page().getByRole("button", { name: "Remove NIC backend", exact: true }).waitFor();
  await keyboard.act("Change the addresses of NIC backend");
  const block = vpc.ipv4_block.replace(/\.0\/\d+$/, ".248/29");
  await keyboard.fill({ "Allowed blocks": block });
  await page().getByText(`tenantctl nic update backend --instance web2 --allow-cidr ${block}`)
    .waitFor();
  await keyboard.press("Control+Enter");
  await page().getByText(block, { exact: true }).waitFor();
  expect(await nics()).toContainEqual(expect.objectContaining({ name: "backend", allowed_cidrs: [block] }));
  await keyboard.act("Remove NIC backend");
  await keyboard.press("Control+Enter");
  await page().getByRole("button", { name: "Remove NIC backend", exact: true }).waitFor({ state: "detached" });
  expect(await nics()).toHaveLength(1);
  okOf(await g.call("DELETE", `/v1/instances/${web2.id}`));
}, LIMIT_MS);

test("the refusal of the public port 70000 is shown at the port's field", async () => {
  const [vpc] = await list(`/v1/vpcs${g.selectors}`);
  const [gateway] = await list(`/v1/nat-gateways?vpc=${vpc.id}`);
  await keyboard.open(`/nat-gateways/${gateway.id}`, "out");
  await page().getByRole("button", { name: "Forward a port c" }).and(page().locator(":not([aria-disabled])")).waitFor();
  await keyboard.press("c");
  await keyboard.fill({ Name: "https", "Public port": "70000" });
  await keyboard.press("Control+Enter");
  await page().locator("input[name=public_port][aria-invalid]").waitFor();
  await keyboard.press("Escape");
}, LIMIT_MS);

test("set the labels of a VPC, and find the VPC in the list by a label", async () => {
  const [vpc] = await list(`/v1/vpcs${g.selectors}`);
  const labels = async () => (await list(`/v1/vpcs${g.selectors}`))[0].labels;
  await keyboard.open(`/vpcs/${vpc.id}`, vpc.name);
  await keyboard.act("Set labels");
  await keyboard.fill({ Labels: "env=test" });
  await page().getByText(`tenantctl vpc update ${vpc.name} --label env=test`).waitFor();
  await keyboard.press("Control+Enter");
  await page().getByText("env=test", { exact: true }).waitFor();
  expect(await labels()).toEqual({ env: "test" });
  await keyboard.act("Set labels");
  await keyboard.fill({ Labels: "tier=web" });
  await page().getByText(`tenantctl vpc update ${vpc.name} --label tier=web --remove-label env`).waitFor();
  await keyboard.press("Control+Enter");
  await page().getByText("tier=web", { exact: true }).waitFor();
  expect(await labels()).toEqual({ tier: "web" });
  await keyboard.open(`/t/${g.tenant_id}/p/${g.project_id}/networks`, "VPCs");
  await keyboard.press("/");
  await keyboard.type("labels:tier=web");
  await page().getByRole("gridcell", { name: vpc.name }).waitFor();
  await keyboard.press("Control+a");
  await keyboard.type("labels:tier=db");
  await page().getByRole("gridcell", { name: vpc.name }).waitFor({ state: "detached" });
}, LIMIT_MS);

test("no page has violated the content security policy", () => expect(f.ui().faults).toEqual([]));
