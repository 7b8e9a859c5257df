// Tests the pages of an instance with the keyboard alone: snapshots, a rebuild, and the trace of a packet.
import { expect, test } from "vitest";
import { okOf } from "../support/control-plane.ts";
import { type FlowObjects, LIMIT_MS, makeFlowObjects } from "./flow-objects.ts";
import { useKeyboard } from "./keyboard.ts";
import { useConsoleSite } from "./site.ts";

let g: FlowObjects["g"];
let web1: FlowObjects["web1"];

const f = useConsoleSite(async (site) => {
  ({ g, web1 } = await makeFlowObjects(site));
});
const keyboard = useKeyboard(() => f.ui().page);
const page = () => f.ui().page;
const list = async (path: string) => okOf(await g.call("GET", path)).items;

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

test("no page has violated the content security policy", () => expect(f.ui().faults).toEqual([]));
