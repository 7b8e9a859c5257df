// Tests the pages of webhooks and of placement groups with the keyboard alone.
import { expect, test } from "vitest";
import { okOf } from "../support/control-plane.ts";
import { type FlowObjects, LIMIT_MS, makeFlowObjects } from "./flow-objects.ts";
import { useKeyboard } from "./keyboard.ts";
import { useConsoleSite } from "./site.ts";

/** How long a test waits for an effect, in milliseconds. */
const WAIT_MS = 20_000;

let g: FlowObjects["g"];

const f = useConsoleSite(async (site) => {
  ({ g } = await makeFlowObjects(site));
});
const keyboard = useKeyboard(() => f.ui().page);
const page = () => f.ui().page;
const list = async (path: string) => okOf(await g.call("GET", path)).items;

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
  // The oldest delivery is dead. It appears only after the list was extended twice.
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
  await page().getByRole("region", { name: "Deliveries" }).focus();
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

test("no page has violated the content security policy", () => expect(f.ui().faults).toEqual([]));
