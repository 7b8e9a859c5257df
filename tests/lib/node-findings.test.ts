// Tests the findings of `opsctl cn doctor` about a node.
import { expect, test } from "vitest";
import type { CnView } from "../../src/contract/cn.ts";
import type { NodeFacts } from "../../src/lib/node-doctor/facts.ts";
import { nodeFindings } from "../../src/lib/node-doctor/node-findings.ts";
import { bootPolicy, bootRecord, MAC, node, NODE_ID, PI } from "../cli/records.ts";

const NOW = new Date("2026-11-21T12:00:00Z");
const HEALTHY: Partial<CnView> = {
  state: "approved",
  bound_api_key_id: "k1",
  admin_ip: "10.0.0.1",
  underlay_address: "10.0.0.1",
  last_seen: "2026-11-21T11:59:30Z",
  last_status: {},
};

function facts(view: Partial<CnView>, change: Partial<NodeFacts> = {}): NodeFacts {
  return {
    node: node(view),
    records: [bootRecord({ server_uuid: NODE_ID, state: "enrolled", assigned_pi: PI })],
    strange_ports: [],
    macs_without_record: [],
    site: { policy: bootPolicy(), staged: [PI] },
    operations: [],
    placement: null,
    layout_error: null,
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
  [
    { underlay_address: null },
    "warns it has no underlay address: instances on other nodes cannot reach its instances",
  ],
])("an approved node with %j is reported", (change, text) => {
  expect(findings({ ...HEALTHY, ...change })).toEqual([text]);
});

test("a node with a damaged pool is usable and is reported; a pool in a report with an unexpected form is ignored", () => {
  const pool = (zones: unknown) => findings({ ...HEALTHY, last_status: { pools: { zones } } });
  expect(pool({ status: "ONLINE", health: "healthy" })).toEqual([]);
  expect(pool({ status: "DEGRADED", health: "degraded: md127 lacks 1 of 2 disks" })).toEqual([
    "warns its pool zones is degraded: md127 lacks 1 of 2 disks",
  ]);
  expect(pool({ status: "FAULTED" })).toEqual(["warns its pool zones is FAULTED"]);
  for (const other of [null, "DEGRADED", [], { status: 1 }]) expect(pool(other)).toEqual([]);
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

test("a disabled node is reported, with the command that enables it if it has a key", () => {
  expect(nodeFindings(facts({ state: "disabled", bound_api_key_id: NODE_ID }))).toEqual([
    { level: "stops", text: "an operator disabled it", mend: "opsctl cn enable rack1-n4" },
  ]);
  expect(findings({ state: "disabled" })).toEqual(["stops it is disabled and has no API key"]);
});

const WAITING = { state: "awaiting_setup" } as const;
const WAITS = "stops it waits for an operator to approve its setup";
const ENROLLING = { records: [bootRecord()] };

test("a node that waits for setup and has no problems has only the finding that it waits", () => {
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

test("a layout that does not fit is reported with the message of the layout tool", () => {
  expect(findings(WAITING, { ...ENROLLING, layout_error: "no disks" })).toContain(
    "stops no disk layout fits: no disks",
  );
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

test("a stuck operation is reported, and a finished operation is not", () => {
  const summary = { id: "op1", kind: "cn-setup", references: [], error: null, time_created: "t", time_done: null };
  const operations = [
    { ...summary, state: "stuck" as const, stuck_reason: "undo failed" },
    { ...summary, state: "succeeded" as const, stuck_reason: null },
  ];
  expect(findings(HEALTHY, { operations })).toEqual(["warns its operation cn-setup is stuck: undo failed"]);
});

test("a cordoned node is not usable; a reserved node is usable", () => {
  const placement = { cordoned: true, cordoned_reason: "new power supply", reserved: true };
  expect(nodeFindings(facts(HEALTHY, { placement }))).toEqual([
    {
      level: "stops",
      text: "it is cordoned (new power supply): no new instance is placed on it",
      mend: "opsctl cn uncordon rack1-n4",
    },
    {
      level: "warns",
      text: "it is reserved: no new instance is placed on it",
      mend: "opsctl cn placement set rack1-n4 --reserved false",
    },
  ]);
});

test("a netboot request with the node's UUID from a port of another machine is a warning that names the port", () => {
  expect(findings(HEALTHY, { strange_ports: ["02:00:00:00:00:99"] })).toEqual([
    "warns another machine sent the UUID of this node in its netboot request (02:00:00:00:00:99)",
  ]);
});
