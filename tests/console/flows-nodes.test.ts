// Tests the pages of nodes with the keyboard alone: evacuation, drain and upgrade by label, migration, boot arguments
// and hardware. Where a flow needs a node's work, the test does the node's jobs in place of its agent.
import { expect, test } from "vitest";
import { addNode, type Node } from "../compute/compute-fixture.ts";
import { makeInstance } from "../compute/instance-fixture.ts";
import { HARDWARE_EXAMPLE } from "../../src/contract/hardware.ts";
import { okOf } from "../support/control-plane.ts";
import { type FlowObjects, LIMIT_MS, makeFlowObjects } from "./flow-objects.ts";
import { useKeyboard } from "./keyboard.ts";
import { useConsoleSite } from "./site.ts";

let g: FlowObjects["g"];
let web1: FlowObjects["web1"];
let node: FlowObjects["node"];
let idle: FlowObjects["idle"];

const f = useConsoleSite(async (site) => {
  ({ g, web1, node, idle } = await makeFlowObjects(site));
});
const keyboard = useKeyboard(() => f.ui().page);
const page = () => f.ui().page;

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
