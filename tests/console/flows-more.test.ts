// Tests more flows of the console with the keyboard alone, such as a migration, an evacuation, or a drain by label.
// Most titles list the user's steps. Where a flow needs a node's work, the test does the node's jobs in place of its
// agent.
import type { Dialog } from "playwright-core";
import { expect, test } from "vitest";
import { addNode, type Node } from "../compute/compute-fixture.ts";
import { sendImage } from "../compute/send-image.ts";
import { type InstanceFixture, makeInstance, openInstanceFixture } from "../compute/instance-fixture.ts";
import { HARDWARE_EXAMPLE } from "../../src/contract/hardware.ts";
import { okOf } from "../support/control-plane.ts";
import { useKeyboard } from "./keyboard.ts";
import { useConsoleSite } from "./site.ts";

let g: InstanceFixture;
let web1: { readonly id: string };
let node: Node;
/** A node whose agent claims no jobs. */
let idle: Node;

/** The time limit of one flow on a busy machine, in milliseconds. The answer to a trace alone may take 10 s. */
const LIMIT_MS = 120_000;
/** How long a test waits for an effect, in milliseconds. */
const WAIT_MS = 20_000;

const f = useConsoleSite(async (site) => {
  node = await addNode(site, {}, { hostname: "r1-u1" });
  serve(node);
  g = await openInstanceFixture(site, {
    url: "https://images.example/linux",
    sha256: "5e".repeat(32),
    size_bytes: 2 ** 30,
  });
  web1 = okOf(await makeInstance(g, { name: "web1" }));
  idle = await addNode(site, {}, { hostname: "r1-u2" });
  for (const { server_uuid } of [node, idle]) {
    okOf(await site.call("PATCH", `/v1/cns/${server_uuid}/placement`, { body: { labels: { rack: "a3" } } }));
  }
});
const keyboard = useKeyboard(() => f.ui().page);
const page = () => f.ui().page;
const list = async (path: string) => okOf(await g.call("GET", path)).items;

/** Acts as the agent of a node and does its jobs until the server ends. */
function serve(of: Node): void {
  const all = async () => {
    for (;;) {
      const job = await of.take();
      if (job.kind.kind === "create_image") await sendImage(f.site(), { node: of, job, content: "the disk of web1" });
      await of.complete(job, job.kind.kind.includes("snapshot") ? { consistency: "crash" } : undefined);
    }
  };
  all().catch(() => {});
}

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

test("set the labels of a firewall rule, which an edit of the firewall keeps", async () => {
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
}, LIMIT_MS);

test(
  "before a link, Back or a reload discards an edit of the firewall, the page asks for confirmation, even after another dialog",
  async () => {
    const [vpc] = await list(`/v1/vpcs${g.selectors}`);
    await keyboard.open("/nodes", "Nodes");
    await keyboard.open(`/vpcs/${vpc.id}`, vpc.name);
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

test("for a port outside the range, the refusal is shown at the port's field", async () => {
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

test("create a snapshot, restore it into a new disk, make an image of it, delete it", async () => {
  await keyboard.open(`/instances/${web1.id}`, "web1");
  await keyboard.act("Show the snapshots");
  await keyboard.waitForHeading("web1: snapshots");
  await page().getByText("The instance has no snapshots.").waitFor();
  await keyboard.press("c");
  await keyboard.fill({ Name: "monday" });
  await keyboard.press("Control+Enter");
  await page().getByText("as after a power failure").waitFor();
  await keyboard.act("Restore monday");
  await keyboard.fill({ "Name of the new disk": "copy" });
  await keyboard.press("Control+Enter");
  await keyboard.waitForHeading("web1");
  await page().getByRole("button", { name: "Detach copy", exact: true }).waitFor();
  const disks = await list(`/v1/disks?instance=${web1.id}`);
  expect(disks.map(({ name }: { name: string }) => name)).toContain("copy");
  await keyboard.open(`/instances/${web1.id}/snapshots`, "web1: snapshots");
  await page().getByRole("gridcell", { name: "monday" }).waitFor();
  await keyboard.act("Make an image of monday");
  await keyboard.fill({ "Name of the image": "golden" });
  await page().getByText("tenantctl image create golden --snapshot monday --instance web1").waitFor();
  await keyboard.press("Control+Enter");
  await keyboard.waitForHeading("image-create");
  await page().locator(".heading .state").getByText("succeeded").waitFor();
  await keyboard.open(`/t/${g.tenant_id}/p/${g.project_id}/images`, "Images");
  await page().getByRole("gridcell", { name: "golden" }).waitFor();
  await keyboard.open(`/instances/${web1.id}/snapshots`, "web1: snapshots");
  await page().getByRole("gridcell", { name: "monday" }).waitFor();
  await keyboard.act("Delete monday");
  await keyboard.fill({ "Type monday to delete it": "monday" });
  await keyboard.press("Control+Enter");
  await page().getByText("The instance has no snapshots.").waitFor();
  expect(await list(`/v1/snapshots?instance=${web1.id}`)).toEqual([]);
}, LIMIT_MS);

test("rebuild an instance: the page names the data that is lost, and follows the operation", async () => {
  await keyboard.open(`/instances/${web1.id}`, "web1");
  await keyboard.act("Rebuild");
  await keyboard.waitForHeading("Rebuild web1");
  await page().getByText("The data on the boot disk is lost.").waitFor();
  await keyboard.fill({ "Type web1 to rebuild it": "web1" });
  await keyboard.press("Enter");
  await keyboard.waitForHeading("instance-rebuild");
  await page().locator(".heading .state").getByText("succeeded").waitFor();
}, LIMIT_MS);

test("trace a packet: the page names the node that did not answer", async () => {
  await keyboard.open(`/instances/${web1.id}`, "web1");
  await keyboard.act("Trace a packet");
  await keyboard.waitForHeading("Trace a packet of web1");
  await keyboard.fill({ "Address of the receiver": "192.0.2.7", "Destination port": "443" });
  await page().getByText("opsctl network trace web1 192.0.2.7 443 --protocol tcp").waitFor();
  await keyboard.press("Enter");
  // The agents of this test do not answer traces.
  await page().getByText("did not answer", { exact: false }).first().waitFor();
}, LIMIT_MS);

test(
  "evacuate a node: the plan names the instances that remain, and the instances whose data the operator may give up",
  async () => {
    await keyboard.open(`/nodes/${node.server_uuid}`, "r1-u1");
    await keyboard.act("Evacuate");
    await keyboard.waitForHeading("Evacuate");
    await page().getByRole("heading", { name: "Would remain" }).waitFor();
    await keyboard.focus("Lose the data of its local disks");
    await keyboard.press("Space");
    await page().getByText("The data on the disks of these instances is lost.").waitFor();
    await keyboard.fill({ "Type r1-u1 to confirm that it is powered off": "r1-u1" });
    await keyboard.press("Enter");
    // The server refuses, because the node has sent a heartbeat.
    await page().locator("form").getByRole("alert").waitFor();
  },
  LIMIT_MS,
);

test("drain by label: see the plan, start the drain, and see the result on the operation's page", async () => {
  okOf(await f.site().call("DELETE", `/v1/instances/${web1.id}?force=true`));
  await keyboard.open("/nodes", "Nodes");
  await keyboard.act("Drain by label");
  await keyboard.waitForHeading("Drain by label");
  await keyboard.fill({ "Label of the nodes": "rack=b1" });
  await keyboard.press("Enter");
  await page().getByText("No approved node has the label rack=b1.").waitFor();
  await keyboard.fill({ "Label of the nodes": "rack=a3" });
  await keyboard.press("Enter");
  await page().locator("summary").getByText("r1-u1").waitFor();
  await keyboard.focusButton("Drain 2 nodes");
  await page().getByText("opsctl cn drain --label rack=a3 --max-unavailable 1", { exact: true }).waitFor();
  await keyboard.press("Enter");
  await keyboard.waitForHeading("cn-drain-label");
  await page().getByRole("heading", { name: "Drained nodes 2" }).waitFor();
}, LIMIT_MS);

test("migrate an instance: the page shows the running migration", async () => {
  const uncordon = async ({ server_uuid }: Node) =>
    okOf(await f.site().call("PATCH", `/v1/cns/${server_uuid}/placement`, { body: { cordoned: false } }));
  await uncordon(node);
  const app1 = okOf(await makeInstance(g, { name: "app1" }));
  await uncordon(idle);
  await keyboard.open(`/instances/${app1.id}/migrations`, "app1: migrations");
  await page().getByText("The instance has not moved between nodes.").waitFor();
  await keyboard.press("i");
  await keyboard.fill({ Node: "r9-u9" });
  await keyboard.press("Control+Enter");
  await page().getByText("no node has the hostname or UUID r9-u9").waitFor();
  await keyboard.fill({ Node: "r1-u2" });
  await page().getByText("opsctl instance migrate app1 --target r1-u2").waitFor();
  await keyboard.press("Control+Enter");
  // The migration waits, because the agent of the target claims no jobs.
  await page().getByText("The source node has not started to send.").waitFor();
  const [{ state, target_server_uuid }] = okOf(await f.site().call("GET", `/v1/instances/${app1.id}/migrations`));
  expect([state, target_server_uuid]).toEqual(["running", idle.server_uuid]);
}, LIMIT_MS);

test("create a webhook, store its secret, send a test, disable it, delete it", async () => {
  const path = `/t/${g.tenant_id}/p/${g.project_id}/webhooks`;
  const webhooks = () => list(`/v1/webhooks${g.selectors}`);
  await keyboard.open(path, "Webhooks");
  await page().getByText("The project has no webhooks.").waitFor();
  await keyboard.press("c");
  await keyboard.fill({ Name: "chat", URL: "https://hooks.example/berth", Events: "instance_*" });
  await page().getByText("tenantctl webhook create --event 'instance_*' --name chat").waitFor();
  await keyboard.press("Control+Enter");
  await page().getByText("The secret of the signatures is shown once.").waitFor();
  await page().getByText(/whsec_/).waitFor();
  expect(await webhooks()).toMatchObject([{ name: "chat", events: ["instance_*"], enabled: true }]);
  await keyboard.act("Send a test to chat");
  await keyboard.press("Control+Enter");
  await keyboard.waitForHeading("chat");
  await page().getByRole("gridcell", { name: "webhook_test", exact: true }).waitFor();
  await keyboard.act("Disable chat");
  await keyboard.press("Control+Enter");
  await page().locator("header .state").getByText("disabled").waitFor();
  expect(await webhooks()).toMatchObject([{ enabled: false }]);
  await keyboard.act("Delete chat");
  await keyboard.press("Control+Enter");
  await keyboard.waitForHeading("Webhooks");
  expect(await webhooks()).toEqual([]);
}, LIMIT_MS);

test("rename a webhook that has an event which no longer exists, then replace the event", async () => {
  const body = { name: "old", url: "https://hooks.example/berth", events: ["disk_create"] };
  const { id } = okOf(await g.call("POST", `/v1/webhooks${g.selectors}`, { body }));
  await f.site().db.query("update webhook set events = '{disk_vanish,disk_create}' where id = $1", [id]);
  const webhook = async () => okOf(await g.call("GET", `/v1/webhooks/${id}`));
  await keyboard.open(`/webhooks/${id}`, "old");
  await keyboard.act("Change old");
  await keyboard.fill({ Name: "older" });
  await page().getByText("tenantctl webhook update old --name older", { exact: true }).waitFor();
  await keyboard.press("Control+Enter");
  await keyboard.waitForHeading("older");
  expect(await webhook()).toMatchObject({ name: "older", events: ["disk_vanish", "disk_create"] });
  await keyboard.act("Change older");
  await keyboard.fill({ Events: "disk_create" });
  await page().getByText("tenantctl webhook update older --event disk_create", { exact: true }).waitFor();
  await keyboard.press("Control+Enter");
  await page().getByRole("definition").getByText("disk_create", { exact: true }).waitFor();
  expect(await webhook()).toMatchObject({ name: "older", events: ["disk_create"] });
  okOf(await g.call("DELETE", `/v1/webhooks/${id}`));
}, LIMIT_MS);

test("show all deliveries of a webhook, and filter all of them by their state", async () => {
  const body = { name: "busy", url: "https://hooks.example/berth", events: ["disk_create"] };
  const { id } = okOf(await g.call("POST", `/v1/webhooks${g.selectors}`, { body }));
  // The oldest delivery is dead, and more than two steps of the list are newer.
  await f.site().db.query(
    `insert into webhook_delivery (webhook_id, type, event, state, ended_at, last_status)
       select $1, case n when 1 then 'the_oldest' else 'disk_create' end, '{}',
              case n when 1 then 'dead' else 'delivered' end, berth_now(), 200
         from generate_series(1, 450) n`,
    [id],
  );
  const oldest = page().getByRole("gridcell", { name: "the_oldest", exact: true });
  const rows = () => page().getByRole("grid", { name: "Deliveries" }).getAttribute("aria-rowcount");
  await keyboard.open(`/webhooks/${id}`, "busy");
  for (const count of [200, 400]) {
    await expect.poll(rows, { timeout: WAIT_MS }).toBe(String(count + 1));
    await keyboard.focusButton("Show older deliveries");
    await keyboard.press("Enter");
  }
  await expect.poll(rows, { timeout: WAIT_MS }).toBe("451");
  await page().getByRole("button", { name: "Show older deliveries" }).waitFor({ state: "detached" });
  await page().getByRole("heading", { level: 1 }).focus();
  await keyboard.press("End");
  await oldest.waitFor();

  await keyboard.open(`/webhooks/${id}?state=dead`, "busy");
  await oldest.waitFor();
  expect(await rows()).toBe("2");
  await page().getByText("tenantctl webhook deliveries busy --state dead").waitFor();
  await keyboard.open(`/webhooks/${id}?state=pending`, "busy");
  await page().getByText("No delivery matches.").waitFor();
  okOf(await g.call("DELETE", `/v1/webhooks/${id}`));
}, LIMIT_MS);

test("create a placement group, rename it, delete it", async () => {
  const groups = () => list(`/v1/placement-groups${g.selectors}`);
  await keyboard.open(`/t/${g.tenant_id}/p/${g.project_id}/placement-groups`, "Placement groups");
  await page().getByText("The project has no placement groups.").waitFor();
  await keyboard.press("c");
  await keyboard.fill({ Name: "spread" });
  await keyboard.press("Control+Enter");
  await page().getByText("each on a different node").waitFor();
  expect(await groups()).toMatchObject([{ name: "spread", policy: "anti_affinity", strictness: "required" }]);
  await keyboard.act("Rename spread");
  await keyboard.fill({ Name: "apart" });
  await keyboard.press("Control+Enter");
  await page().getByRole("gridcell", { name: "apart", exact: true }).waitFor();
  await keyboard.act("Delete apart");
  await keyboard.press("Control+Enter");
  await page().getByText("The project has no placement groups.").waitFor();
  expect(await groups()).toEqual([]);
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

test("set the kernel arguments and the console of a machine, and see its last netboot request", async () => {
  const mac = "02:00:5e:00:53:77";
  const client = { arch: 7, vendor_class: "PXEClient:Arch:00007", has_boot_file: false };
  okOf(await f.site().call("POST", "/v2/booter/seen", { body: { mac, client } }));
  await keyboard.open(`/boot/${mac}`, mac);
  await page().getByText("The booter has no boot file for this architecture", { exact: false }).waitFor();
  await page().getByText("PXEClient:Arch:00007").waitFor();
  await keyboard.act("Set kernel arguments");
  await keyboard.fill({ "Kernel arguments": "nomodeset" });
  await keyboard.focus("Console");
  await keyboard.type("ttyb");
  await keyboard.fill({ "Speed of a serial port": "57600" });
  await page().getByText(`opsctl cn boot arguments ${mac} --kernel-arg nomodeset --console ttyb:57600`).waitFor();
  await keyboard.press("Control+Enter");
  await page().getByText("ttyb:57600", { exact: true }).waitFor();
  const read = async () => okOf(await f.site().call("GET", `/v2/cn-boot/${encodeURIComponent(mac)}`));
  expect(await read()).toMatchObject({ kernel_args: ["nomodeset"], console: { port: "ttyb", speed: 57_600 } });
  await keyboard.act("Set kernel arguments");
  await keyboard.fill({ "Kernel arguments": "" });
  await keyboard.press("Backspace");
  await keyboard.focus("Console");
  await keyboard.type("the console that");
  await page().getByText(`opsctl cn boot arguments ${mac} --clear`).waitFor();
  await keyboard.press("Control+Enter");
  await page().getByText("ttyb:57600", { exact: true }).waitFor({ state: "detached" });
  expect(await read()).toMatchObject({ kernel_args: [], console: null });
}, LIMIT_MS);

test("see the hardware of a node after a booter has read it from the BMC", async () => {
  const { server_uuid } = node;
  await keyboard.open(`/nodes/${server_uuid}?tab=hardware`, "r1-u1");
  await page().getByText("No booter has read the BMC.", { exact: false }).waitFor();
  okOf(await f.site().call("PUT", `/v2/booter/cns/${server_uuid}/hardware`, { body: HARDWARE_EXAMPLE }));
  await page().getByText("LinkUp").waitFor();
  await page().getByText("opsctl cn hardware r1-u1").waitFor();
}, LIMIT_MS);

test(
  "upgrade by label: the plan names nodes that cannot be upgraded, and the start opens the operation's page",
  async () => {
    const [old, next] = ["20261001T000000Z", "20261121T000000Z"];
    await keyboard.open("/nodes", "Nodes");
    await keyboard.act("Upgrade by label");
    await keyboard.waitForHeading("Upgrade by label");
    await page().getByText("No booter has staged a platform image.").waitFor();
    okOf(await f.site().call("PUT", "/v2/platform-images", { body: { stamps: [next] } }));
    await keyboard.fill({ "Label of the nodes": "rack=a3" });
    await keyboard.press("Enter");
    await page().getByText("no enrolled boot record belongs to the node", { exact: false }).first().waitFor();

    const { server_uuid } = await addNode(f.site(), {}, { hostname: "r2-u1" });
    okOf(await f.site().call("PATCH", `/v1/cns/${server_uuid}/placement`, { body: { labels: { rack: "b7" } } }));
    await f.site().db.query(
      "insert into boot_record (mac, incarnation, version, state, provenance, server_uuid, assigned_pi, rescue, " +
        "created_at, updated_at) values ('02:00:5e:00:53:01', gen_random_uuid(), 1, 'enrolled', '{}', $1, $2, false, " +
        "berth_now(), berth_now())",
      [server_uuid, old],
    );
    await f.site().db.query(
      "update cn_signal set last_status = jsonb_build_object('boot_id', 'one', 'platform_image', $2::text) where server_uuid = $1",
      [server_uuid, old],
    );
    await keyboard.fill({ "Label of the nodes": "rack=b7" });
    await keyboard.press("Enter");
    await page().locator("summary").getByText("r2-u1").waitFor();
    await page().getByText(`now ${old}`, { exact: false }).waitFor();
    await keyboard.focusButton("Upgrade 1 node");
    await page().getByText(
      `opsctl cn upgrade --label rack=b7 --platform ${next} --max-unavailable 1 --reboot agent`,
      { exact: true },
    ).waitFor();
    await keyboard.press("Enter");
    await keyboard.waitForHeading("cn-upgrade-label");
    await page().locator(".heading .state").getByText("running").waitFor();
  },
  LIMIT_MS,
);

test("no page has violated the content security policy", () => expect(f.ui().faults).toEqual([]));
