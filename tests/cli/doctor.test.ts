import { expect, test } from "vitest";
import type { NodeFacts } from "../../cli/opsctl/cn/doctor/facts.ts";
import { nodeFindings } from "../../cli/opsctl/cn/doctor/node-findings.ts";
import type { CnView } from "../../src/contract/cn.ts";
import type { Server } from "./fake-environment.ts";
import { opsctl } from "./opsctl.ts";
import { bootPolicy, bootRecord, MAC, node, NODE_ID, PI } from "./records.ts";

const NOW = new Date("2026-11-21T12:00:00Z");
const HEALTHY: Partial<CnView> = {
  state: "approved",
  bound_api_key_id: "k1",
  admin_ip: "10.0.0.1",
  last_seen: "2026-11-21T11:59:30Z",
  last_status: {},
};

function facts(view: Partial<CnView>, change: Partial<NodeFacts> = {}): NodeFacts {
  return {
    node: node(view),
    records: [bootRecord({ server_uuid: NODE_ID, state: "enrolled", assigned_pi: PI })],
    macs_without_record: [],
    site: { policy: bootPolicy(), staged: [PI] },
    operations: [],
    proposal: null,
    now: NOW,
    ...change,
  };
}

/** Returns `stops TEXT` or `warns TEXT` of each finding. */
function findings(view: Partial<CnView>, change: Partial<NodeFacts> = {}): string[] {
  return nodeFindings(facts(view, change)).map(({ level, text }) => `${level} ${text}`);
}

test("a healthy node has no findings", () => {
  expect(findings(HEALTHY)).toEqual([]);
});

test("a node without a heartbeat for more than 60 s is reported", () => {
  expect(findings({ ...HEALTHY, last_seen: "2026-11-21T11:59:00Z" })).toEqual([]);
  expect(findings({ ...HEALTHY, last_seen: "2026-11-21T11:58:59Z" })).toEqual([
    "stops its agent sent its last heartbeat 61 s ago",
  ]);
  expect(findings({ ...HEALTHY, last_seen: null })).toEqual(["stops its agent has never sent a heartbeat"]);
});

test.each<[Partial<CnView>, string]>([
  [{ bound_api_key_id: null }, "stops no API key is bound to it: its agent cannot log in"],
  [{ last_status: null }, "stops its agent has never reported a status"],
  [{ role: "edge" }, "warns its role is edge: tenant instances are not placed on it"],
  [{ admin_ip: null }, "warns it has no admin_ip: opsctl cn exec cannot reach it"],
])("an approved node with %j is reported", (change, text) => {
  expect(findings({ ...HEALTHY, ...change })).toEqual([text]);
});

const EXPIRED = "stops its claim code has expired; the record will be removed soon";

test("a pending node is reported as waiting for approval, or as expired when its claim code has expired", () => {
  const view = { claim_code: "ABC-123", claim_code_expires_at: "2026-11-21T12:00:01Z" };
  expect(nodeFindings(facts(view))).toEqual([
    { level: "stops", text: "it waits for an operator to approve its claim code", mend: "opsctl cn approve ABC-123" },
  ]);
  expect(findings({ ...view, claim_code_expires_at: NOW.toISOString() })).toEqual([EXPIRED]);
  expect(findings({})).toEqual([EXPIRED]);
});

test("a disabled node is reported", () => {
  expect(findings({ state: "disabled" })).toEqual(["stops an operator disabled it"]);
});

const WAITING = { state: "awaiting_setup" } as const;
const WAITS = "stops it waits for an operator to approve its setup";
const ENROLLING = { records: [bootRecord()] };

test("a node that waits for setup has one finding, that it waits, if nothing is wrong", () => {
  expect(findings(WAITING, ENROLLING)).toEqual([WAITS]);
});

test("a failed setup is a problem; a factory reset is only a warning", () => {
  expect(findings({ ...WAITING, last_setup_error: "no pool" }, ENROLLING)).toContain(
    "stops the last setup failed: no pool",
  );
  expect(findings({ ...WAITING, last_setup_error: "factory reset by operator" }, ENROLLING)).toEqual([
    WAITS,
    "warns it was reset; approve its setup only after it has booted the enrolment image again",
  ]);
});

test("a layout that does not fit is reported with the tool's message", () => {
  const proposal = { disks: [], error: "no disks", supported_layouts: [] };
  expect(findings(WAITING, { ...ENROLLING, proposal })).toContain("stops no disk layout fits: no disks");
});

test.each([
  [{ enrollment_pi: null }, [PI], "names no enrollment_pi"],
  [{}, [], `the enrolment image ${PI} is not staged on any booter`],
  [{ admin_network: null }, [PI], "has no admin_network"],
])("a boot policy with %j and the staged images %j prevent enrolment", (change, staged, text) => {
  const site = { policy: bootPolicy(change), staged };
  expect(findings(WAITING, { ...ENROLLING, site }).join()).toContain(text);
});

test.each([
  [bootRecord({ state: "discovered" }), "is discovered"],
  [bootRecord({ state: "decommissioned" }), "is decommissioned: the booter does not answer it"],
  [bootRecord({ address: null, networking: null }), "has no address: the booter does not answer it"],
  [bootRecord({ rescue: true }), "is in rescue: the next netboot does not boot the enrolment image"],
])("a boot record that prevents enrolment is reported: %#", (record, text) => {
  const found = nodeFindings(facts(WAITING, { records: [record] })).find((finding) => finding.text.includes(text));
  expect(found).toBeDefined();
  expect(found!.mend).toMatch(record.address === null ? /opsctl cn boot policy show/ : new RegExp(MAC));
});

test("a node without any boot record cannot netboot", () => {
  expect(findings(WAITING, { records: [], macs_without_record: [MAC] })).toContain(
    "stops it has no boot record: none of its ports has one",
  );
});

const SETTING_UP = { state: "setting_up", approved_at: "2026-11-21T11:50:00Z" } as const;
const PROGRESS = { epoch: 1, step: "create_pool", message: null, percent: null, updated_at: "2026-11-21T11:55:00Z" };

test("a running setup shows its step, remaining time and time without a report", () => {
  expect(findings(SETTING_UP)).toEqual([
    "stops its setup is approved, but the machine has not reported yet (35 min left)",
  ]);
  expect(findings({ ...SETTING_UP, setup_progress: PROGRESS })).toEqual([
    "stops its setup is running: create_pool (35 min left)",
  ]);
  const later = new Date("2026-11-21T12:35:00Z");
  expect(findings({ ...SETTING_UP, setup_progress: PROGRESS }, { now: later })).toEqual([
    "stops its setup is running: create_pool (its time is up, and the setup will be rolled back, silent for 40 min)",
  ]);
});

test("two machines with one identity are a problem before setup, and a warning on a healthy node", () => {
  const conflict = { announced_at: "2026-11-21T11:00:00Z", hostname: "twin", macs: [MAC] };
  expect(findings({ ...WAITING, conflict }, ENROLLING)[1]).toMatch(
    /^stops another machine announced itself .* \(twin, 02:/,
  );
  expect(findings({ ...HEALTHY, conflict })[0]).toMatch(/^warns another machine/);
});

test("an unstaged image, a decommissioned record and rescue are warnings on a healthy node", () => {
  const gone = bootRecord({ state: "enrolled", assigned_pi: "old" });
  expect(findings(HEALTHY, { records: [gone] })).toEqual([
    `warns the platform image old of boot record ${MAC} is not staged on any booter; a netboot would fail`,
  ]);
  expect(findings(HEALTHY, { records: [bootRecord({ state: "decommissioned", rescue: true })] })).toEqual([
    `warns boot record ${MAC} is in rescue: the next netboot does not boot its platform image`,
    `warns boot record ${MAC} is decommissioned: the node cannot netboot`,
  ]);
});

test("a stuck operation is reported, a finished one is not", () => {
  const summary = { id: "op1", kind: "cn-setup", references: [], error: null, time_created: "t", time_done: null };
  const operations = [
    { ...summary, state: "stuck" as const, stuck_reason: "undo failed" },
    { ...summary, state: "succeeded" as const, stuck_reason: null },
  ];
  expect(findings(HEALTHY, { operations })).toEqual(["warns its operation cn-setup is stuck: undo failed"]);
});

const REPORT = { ...HEALTHY, last_seen: new Date().toISOString() };

/** Returns a control plane with one node and one boot record. */
function site(view: Partial<CnView>, bound: string | null = NODE_ID): Server {
  const record = bootRecord({ state: bound === null ? "discovered" : "enrolled", assigned_pi: PI, server_uuid: bound });
  return ({ path, query }) => {
    switch (path) {
      case `/v1/system/cns/${NODE_ID}`:
        return { body: node({ ...REPORT, ...view }) };
      case "/v1/system/cns":
        return { body: { items: [] } };
      case "/v2/cn-boot":
        return { body: { items: [record] } };
      case `/v2/cn-boot/${MAC}`:
        return { body: record };
      case "/v2/cn-boot-policy":
        return { body: bootPolicy() };
      case "/v2/platform-images":
        return { body: { items: [{ stamp: PI }] } };
      case "/v1/operations":
        expect(query).toMatchObject({ resource_scope: "cn", resource_id: NODE_ID });
        return { body: [] };
      default:
        return { status: 404, body: { message: "Not Found" } };
    }
  };
}

test("cn doctor exits 0 on a usable node and 1 on an unusable one, with a command to run", async () => {
  const usable = await opsctl(["cn", "doctor", NODE_ID], { server: site({}) });
  expect([usable.code, usable.out()]).toEqual([0, `rack1-n4 (${NODE_ID}), approved, is usable\n`]);
  const unusable = await opsctl(["cn", "doctor", NODE_ID], { server: site({ last_status: null, role: "edge" }) });
  expect([unusable.code, unusable.err()]).toEqual([1, "error: not usable: 1 problem\n"]);
  expect(unusable.out()).toBe(
    `rack1-n4 (${NODE_ID}), approved, is not usable

STOPS  its agent has never reported a status
       -> check the node agent on the node, and its network path to the control plane

warns  its role is edge: tenant instances are not placed on it
       -> opsctl cn label set rack1-n4 --role both
`,
  );
});

test("cn doctor --json prints the findings", async () => {
  const ran = await opsctl(["cn", "doctor", NODE_ID, "--json"], { server: site({ role: "edge" }) });
  expect(JSON.parse(ran.out())).toMatchObject({ server_uuid: NODE_ID, usable: true, findings: [{ level: "warns" }] });
});

test("cn doctor of a MAC shows its node, or only its boot record", async () => {
  const bound = await opsctl(["cn", "doctor", MAC], { server: site({}) });
  expect(bound.out()).toContain(`rack1-n4 (${NODE_ID}), approved, is usable`);
  const alone = await opsctl(["cn", "doctor", "02-00-00-00-00-01"], { server: site({}, null) });
  expect(alone.code).toBe(1);
  expect(alone.out()).toContain(`-> opsctl cn boot authorize ${MAC}`);
  const unseen = await opsctl(["cn", "doctor", "02:00:00:00:00:77"], { server: site({}) });
  expect([unseen.code, unseen.err()]).toEqual([
    3,
    "error: no booter has seen 02:00:00:00:00:77, and no compute node has this name\n",
  ]);
});
