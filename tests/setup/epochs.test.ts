// A late report of an older setup run must have no effect on a newer run: it could wipe disks or leave a key valid. So
// every order of the reports is tested, for every way in which the older run can end. docs/reliability.md R-31.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { cn } from "../../actors/cn/transition.ts";
import type { CnMessage } from "../../actors/cn/messages.ts";
import type { CnState } from "../../actors/cn/state.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { changedRows, dumpTables } from "../support/dump.ts";
import { expectInvariants } from "./invariants.ts";
import {
  announce,
  approveSetup,
  HISTORY,
  keysOf,
  onNode,
  permutations,
  putPolicy,
  recordStates,
  report,
  type ReportKind,
  REPORTS,
  type Run,
  settingUp,
  settle,
  showNode,
  stageImages,
  takeBundle,
} from "./machine.ts";
import { AWAITING, MESSAGES, NOW } from "./cells.ts";

const KINDS = Object.keys(REPORTS) as ReportKind[];

describe("through the API", () => {
  let t: TestControlPlane;
  beforeAll(async () => {
    t = await openTestControlPlane();
    okOf(await putPolicy(t));
    okOf(await stageImages(t));
  });
  afterAll(() => t.close());
  afterEach(() => expectInvariants(t.db));

  /** Events that end the older run before the newer run starts. */
  const EVENTS_BETWEEN: Record<string, (run: Run) => Promise<unknown>> = {
    "a failed run": async (run) => okOf(await report(t, run, "failed", { epoch: run.epoch })),
    "a start of the machine from another booter": async (run) =>
      okOf(await announce(t, run, { mac: run.macs[0], started: true })),
    "an expired run": async () => {
      await t.advance(2_701);
      await t.plane.pass();
    },
    "an abandoned run": async (run) => {
      okOf(await t.call("POST", `/v1/operations/${run.operation_id}/abandon`));
      okOf(await t.call("GET", `/v1/operations/${run.operation_id}?wait=10`));
    },
    "a factory reset": async (run) => {
      okOf(await report(t, run, "complete", { epoch: run.epoch }));
      okOf(await onNode(t, "POST", run, "/factory-reset"));
    },
    "a removal and a new announce": async (run) => {
      okOf(await report(t, run, "failed", { epoch: run.epoch }));
      okOf(await onNode(t, "DELETE", run));
      okOf(await announce(t, run));
    },
  };

  test.each(Object.keys(EVENTS_BETWEEN))(
    "after %s, reports of the older run get 409 in every order and change nothing",
    async (name) => {
      const old = await settingUp(t);
      await EVENTS_BETWEEN[name]?.(old);
      expect((await showNode(t, old)).state).toBe("awaiting_setup");
      await expectOldReportsRefused(old);

      okOf(await approveSetup(t, old));
      await expectOldReportsRefused(old);
      const { epoch, api_key } = okOf(await takeBundle(t, old));
      expect(epoch).toBeGreaterThan(old.epoch);
      await expectOldReportsRefused(old);
      okOf(await report(t, old, "progress", { epoch }));
      await expectOldReportsRefused(old);

      okOf(await report(t, old, "complete", { epoch }));
      await expectOldReportsRefused(old);
      expect((await t.call("POST", "/v1/agent/heartbeat", { key: api_key })).status).toBe(200);
      expect((await t.call("POST", "/v1/agent/heartbeat", { key: old.api_key })).status).toBe(401);
      expect((await keysOf(t, old)).length).toBe(1);
      if (!name.startsWith("a removal")) expect(await recordStates(t, old)).toEqual(["enrolled", "enrolled"]);
    },
  );

  /** Sends the three reports of the older run in all six orders: all are refused, and the database is unchanged. */
  async function expectOldReportsRefused(old: Run): Promise<void> {
    await settle(t);
    const before = await dumpTables(t.db);
    for (const order of permutations(KINDS)) {
      for (const kind of order) expect((await report(t, old, kind, { epoch: old.epoch })).status).toBe(409);
    }
    expect(changedRows(before, await dumpTables(t.db), HISTORY)).toEqual([]);
  }

  test("no two runs have the same epoch, even after a node's removal", async () => {
    const { rows } = await t.db.query<{ epochs: number; runs: number }>(
      `select count(distinct params->>'epoch')::int as epochs, count(*)::int as runs from saga where saga = 'cn-setup'`,
    );
    expect(rows[0]?.runs).toBeGreaterThanOrEqual(10);
    expect(rows[0]?.epochs).toBe(rows[0]?.runs);
  });
});

describe("in the transition table", () => {
  const [OLD, NEW] = [7, 8];
  const of = (type: "setup_progressed" | "setup_completed" | "setup_failed" | "revert_setup", epoch: number) =>
    ({ ...MESSAGES[type], epoch }) as CnMessage;
  const after = (state: CnState | null, ...messages: CnMessage[]) =>
    messages.reduce((at, message) => {
      const out = cn.step(at, message, NOW);
      return out.out === "go" ? out.next : at;
    }, state);

  /** Returns the messages that approve a run with this epoch and fetch its bundle. */
  const running = (epoch: number) => [{ ...MESSAGES.approve_setup, epoch }, MESSAGES.take_bundle];
  const NEWER: Record<string, CnState | null> = {
    "a failure": after(AWAITING, ...running(OLD), of("setup_failed", OLD), ...running(NEW)),
    "an abandonment": after(AWAITING, ...running(OLD), of("revert_setup", OLD), ...running(NEW)),
    "a reset": after(
      AWAITING,
      ...running(OLD),
      of("setup_completed", OLD),
      MESSAGES.factory_reset,
      ...running(NEW),
    ),
    "a removal": after(
      AWAITING,
      ...running(OLD),
      of("setup_failed", OLD),
      MESSAGES.remove,
      MESSAGES.announce,
      ...running(NEW),
    ),
  };

  test.each(Object.keys(NEWER))(
    "after %s, the reports of the older run have no effect in any of the 720 orders of both runs' reports",
    (name) => {
      const start = NEWER[name] ?? null;
      expect(start).toMatchObject({ state: "setting_up", setup_epoch: NEW, bundle_taken: true });
      const types = ["setup_progressed", "setup_completed", "setup_failed"] as const;
      const reports = [OLD, NEW].flatMap((epoch) => types.map((type) => ({ epoch, message: of(type, epoch) })));
      // The final states without the older run's reports, by the order of the newer run's reports.
      const alone = new Map<string, string>();
      let violations = 0;
      for (const order of permutations(reports)) {
        const own = order.filter(({ epoch }) => epoch === NEW).map(({ message }) => message);
        const key = own.map(({ type }) => type).join();
        if (!alone.has(key)) alone.set(key, JSON.stringify(after(start, ...own)));
        if (JSON.stringify(after(start, ...order.map(({ message }) => message))) !== alone.get(key)) violations += 1;
      }
      expect(violations).toBe(0);
      expect(alone.size).toBe(6);
    },
  );
});
