// Tests the flows of an operator with the keyboard alone: a setup, a node that does not work, a placement, a quota, a
// reset.
import { beforeAll, describe, expect, test } from "vitest";
import { okOf } from "../support/control-plane.ts";
import { announce, awaitingSetup, newMachine, putPolicy, report, stageImages, takeBundle } from "../setup/machine.ts";
import { addNode } from "../compute/compute-fixture.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { useKeyboard } from "./keyboard.ts";
import { useConsoleSite } from "./site.ts";

let tenant: TestTenant;

/** The time limit of one flow on a busy machine, in milliseconds. */
const LIMIT_MS = 120_000;

const f = useConsoleSite(async (site) => {
  okOf(await stageImages(site));
  okOf(await putPolicy(site));
  await addNode(site, {}, { hostname: "r1-u1" });
  tenant = await openTenant(site);
});
const keyboard = useKeyboard(() => f.ui().page);

describe("watch a setup", () => {
  const machine = { ...newMachine(), hostname: "bare-7" };

  beforeAll(async () => {
    if (f.isOpen()) await awaitingSetup(f.site(), machine);
  });

  test("a proposed layout is shown with a form for the approval", async () => {
    await keyboard.open("/overview", "Overview");
    await keyboard.goTo("bare-7");
    await keyboard.waitForHeading("bare-7");
    for (let tab = 0; tab < 3; tab++) await keyboard.press("]");
    await f.ui().page.getByText("Proposed disk layout").waitFor();
    await keyboard.focus("Spares");
    await keyboard.type("1");
    await keyboard.press("Enter");
    await f.ui().page.getByText("The machine has not fetched it yet").waitFor();
  }, LIMIT_MS);

  test("the page shows the progress that the machine reports", async () => {
    const { epoch } = okOf(await takeBundle(f.site(), machine));
    okOf(await report(f.site(), machine, "progress", { epoch, step: "pool", percent: 40, message: "creating zones" }));
    await f.ui().page.getByRole("progressbar", { name: "Setup" }).and(f.ui().page.locator("[aria-valuenow='40']"))
      .waitFor();
    await f.ui().page.getByText("creating zones", { exact: true }).waitFor();
  }, LIMIT_MS);

  test("after a failure, the page shows the reason, and the form has the earlier values", async () => {
    const { setup_progress } = okOf(await f.site().call("GET", `/v1/system/cns/${machine.server_uuid}`));
    okOf(await report(f.site(), machine, "failed", { epoch: setup_progress.epoch, reason: "disk c0t1d0 is broken" }));
    await f.ui().page.getByRole("heading", { name: "Try again" }).waitFor();
    expect(await f.ui().page.locator("main").innerText()).toContain("disk c0t1d0 is broken");
    expect(await f.ui().page.getByLabel("Spares").inputValue()).toBe("1");
  }, LIMIT_MS);
});

test(
  "the page of a node that does not work states the reason, and links to the page with the details",
  async () => {
    const machine = { ...newMachine(), hostname: "bare-8" };
    await awaitingSetup(f.site(), machine);
    okOf(await announce(f.site(), machine));
    await keyboard.open("/overview", "Overview");
    await keyboard.goTo("bare-8");
    await keyboard.waitForHeading("bare-8");
    await f.ui().page.locator("p .sentence, .sentence").first().waitFor();
    await keyboard.focusLink("Setup and disk layout");
    await keyboard.press("Enter");
    await f.ui().page.getByText("Proposed disk layout").waitFor();
  },
  LIMIT_MS,
);

test(
  "the placement page explains the decision about each node, and explains it again after a cordon",
  async () => {
    await keyboard.open("/overview", "Overview");
    await keyboard.press("g");
    await keyboard.press("p");
    await keyboard.waitForHeading("Placement");
    await keyboard.focus("vCPUs");
    await keyboard.type("2");
    await keyboard.press("Enter");
    await f.ui().page.getByText("It would be placed on r1-u1").waitFor();
    await keyboard.focusAt("details:first-of-type summary");
    await keyboard.press("Enter");
    await keyboard.press("Tab");
    await keyboard.focusButton("Cordon");
    await keyboard.press("Enter");
    await keyboard.type("new memory");
    await keyboard.press("Enter");
    await f.ui().page.getByText("No node can take").waitFor();
    await f.ui().page.getByText("cn-not-cordoned").first().waitFor();
  },
  LIMIT_MS,
);

test(
  "on a tenant's page, a quota is set, and the dialog for the delete names the projects that the tenant still has",
  async () => {
    await keyboard.open("/tenants", "Tenants");
    await keyboard.goTo("acme");
    await keyboard.waitForHeading("acme");
    await f.ui().page.getByRole("link", { name: "acme-project" }).waitFor();
    await keyboard.focusButton("Set the quota");
    await keyboard.press("Enter");
    await keyboard.fill({ vCPUs: "4", Memory: "8 GiB", Disk: "100 GiB", Instances: "3" });
    await keyboard.press("Enter");
    await f.ui().page.getByText("The quota of acme-project is set").waitFor();
    await f.ui().page.getByText("0 of 4").waitFor();
    const quota = `/v1/tenants/${tenant.tenant_id}/projects/${tenant.project_id}/quota`;
    expect(okOf(await f.site().call("GET", quota))).toMatchObject({ cpu_limit: 4, memory_bytes: 8 * 2 ** 30 });
    await keyboard.act("delete the tenant");
    await f.ui().page.getByText("The tenant still has acme-project").waitFor();
    await keyboard.press("Escape");
  },
  LIMIT_MS,
);

test("a factory reset needs the typed hostname", async () => {
  const node = await addNode(f.site(), {}, { hostname: "r1-u9" });
  await keyboard.open(`/nodes/${node.server_uuid}?tab=setup`, "r1-u9");
  await keyboard.focusLink("Reset the node to factory state…");
  await keyboard.press("Enter");
  await keyboard.waitForHeading("Factory reset of r1-u9");
  await keyboard.focus("Type r1-u9 to reset it");
  await keyboard.type("r1-u8");
  await keyboard.press("Enter");
  await keyboard.waitForHeading("Factory reset of r1-u9");
  const path = `/v1/system/cns/${node.server_uuid}`;
  expect(okOf(await f.site().call("GET", path)).state).toBe("approved");
  await keyboard.press("Backspace");
  await keyboard.type("9");
  await keyboard.press("Enter");
  await keyboard.waitForHeading("r1-u9");
  expect(okOf(await f.site().call("GET", path)).state).toBe("awaiting_setup");
}, LIMIT_MS);
test("a drain shows its plan before the start, and its operation shows the result", async () => {
  const { server_uuid } = await addNode(f.site(), {}, { hostname: "r1-u8" });
  await keyboard.open(`/nodes/${server_uuid}`, "r1-u8");
  await keyboard.press("d");
  await keyboard.waitForHeading("Drain");
  await f.ui().page.getByText("The node has no instances. A drain only cordons it.").waitFor();
  await keyboard.focusButton("Drain");
  await keyboard.press("Enter");
  await keyboard.waitForHeading("cn-drain");
  await f.ui().page.getByText("Moved 0 instances").waitFor();
  expect(okOf(await f.site().call("GET", `/v1/cns/${server_uuid}/placement`))).toMatchObject({ cordoned: true });
}, LIMIT_MS);

test("the command of a node's placement rules clears an emptied field", async () => {
  const { server_uuid } = await addNode(f.site(), {}, { hostname: "r1-u2" });
  const body = { fault_domain: "rack-1", note: "old" };
  okOf(await f.site().call("PATCH", `/v1/cns/${server_uuid}/placement`, { body }));
  await keyboard.open(`/nodes/${server_uuid}?tab=placement`, "r1-u2");
  await f.ui().page.getByText("rack-1", { exact: true }).waitFor();
  await keyboard.act("Edit the placement rules");
  await keyboard.fill({ "Note to other operators": "new" });
  await keyboard.focus("Fault domain");
  await keyboard.press("Control+a");
  await keyboard.press("Delete");
  await f.ui().page.getByText("opsctl cn placement set r1-u2 --note new --clear fault_domain", { exact: true })
    .waitFor();
  await keyboard.press("Control+Enter");
  await expect.poll(async () => okOf(await f.site().call("GET", `/v1/cns/${server_uuid}/placement`)))
    .toMatchObject({ fault_domain: null, note: "new" });
}, LIMIT_MS);

test("a silo with only its default tenant can be deleted", async () => {
  const { id } = okOf(await f.site().call("POST", "/v1/silos", { body: { name: "hollow" } }));
  await keyboard.open("/tenants", "Tenants");
  await f.ui().page.getByText("hollow").first().waitFor();
  await keyboard.act("Delete a silo");
  await keyboard.focus("Silo");
  await keyboard.type("hollow");
  await f.ui().page.getByText("opsctl silo delete hollow").waitFor();
  await keyboard.press("Control+Enter");
  await f.ui().page.getByText("The silo is deleted").waitFor();
  expect((await f.site().call("GET", `/v1/silos/${id}`)).status).toBe(404);
}, LIMIT_MS);

test("the verification of the audit chain shows the newest hash, or names a changed event", async () => {
  await keyboard.open("/audit", "Audit");
  await keyboard.act("Verify the chain");
  await keyboard.waitForHeading("Verify the audit chain");
  await f.ui().page.getByText("opsctl audit verify", { exact: true }).waitFor();
  await keyboard.focusButton("Verify");
  await keyboard.press("Enter");
  await f.ui().page.getByText(/^The chain verifies up to event \d+\.$/).waitFor();
  expect(await f.ui().page.locator("main").innerText()).toMatch(/[0-9a-f]{64}/);

  await f.site().db.query("update audit_event set canonical = canonical || ' ' where seq = 1");
  try {
    await keyboard.fill({ "First event": "0", "Last event": "2" });
    await f.ui().page.getByText("opsctl audit verify --from 0 --to 2", { exact: true }).waitFor();
    await keyboard.press("Enter");
    await f.ui().page.getByText("The chain is broken at event 1", { exact: false }).waitFor();
    await keyboard.focusLink("event 1");
  } finally {
    await f.site().db.query("update audit_event set canonical = rtrim(canonical) where seq = 1");
  }
}, LIMIT_MS);
