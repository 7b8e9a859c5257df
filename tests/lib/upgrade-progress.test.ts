// Tests which action comes next in an upgrade by label, and in the upgrade of one node.
import { expect, test } from "vitest";
import {
  type Draining,
  nextOfLabelUpgrade,
  nextOfNodeUpgrade,
  type Returning,
  type UpgradedNode,
} from "../../src/lib/placement/upgrade-progress.ts";

const NONE: ReadonlyMap<string, string> = new Map();
const node = (name: string, upgrade: UpgradedNode["upgrade"] = null): UpgradedNode => ({
  server_uuid: name,
  hostname: `host-${name}`,
  operation_id: `upgrade-${name}`,
  upgrade,
});
type State = NonNullable<UpgradedNode["upgrade"]>["state"];
const is = (state: State, failed_step: string | null = null): UpgradedNode["upgrade"] => ({
  state,
  error: failed_step === null ? null : "no power",
  failed_step,
  moved: 2,
});
const names = (nodes: readonly UpgradedNode[], most: number, refusals = NONE) => {
  const decided = nextOfLabelUpgrade(nodes, most, refusals);
  return decided.next === "begin" ? decided.nodes.map(({ server_uuid }) => server_uuid) : decided.next;
};

test("the upgrades of the nodes begin in order, and at most max_unavailable upgrades run at a time", () => {
  expect(names([node("a"), node("b"), node("c")], 1)).toEqual(["a"]);
  expect(names([node("a", is("running")), node("b"), node("c")], 1)).toEqual([]);
  expect(names([node("a", is("unwinding")), node("b"), node("c")], 2)).toEqual(["b"]);
  expect(names([node("a", is("succeeded")), node("b"), node("c")], 1)).toEqual(["b"]);
});

test.each(["unwound", "failed", "stuck"] as const)(
  "once the upgrade of a node is in the state %s, no other upgrade begins",
  (state) => {
    const stuck = node("b", is(state, "return"));
    expect(names([node("a", is("running")), stuck, node("c")], 3)).toEqual([]);
    expect(nextOfLabelUpgrade([node("a", is("succeeded")), stuck, node("c")], 3, NONE)).toEqual({
      next: "end",
      result: {
        upgraded: [{ server_uuid: "a", hostname: "host-a", operation_id: "upgrade-a", moved: 2 }],
        not_upgraded: [{
          server_uuid: "b",
          hostname: "host-b",
          operation_id: "upgrade-b",
          step: "return",
          reason: "no power",
          remedy: expect.stringContaining("booter redfish power-cycle"),
        }],
        not_begun: [{ server_uuid: "c", hostname: "host-c" }],
      },
    });
  },
);

test("a refused upgrade stops the operation, unless the upgrade began in another process", () => {
  const refusals = new Map([["a", "operation X already drains, evacuates or upgrades the node"]]);
  expect(nextOfLabelUpgrade([node("a"), node("b")], 1, refusals)).toMatchObject({
    next: "end",
    result: { not_upgraded: [{ step: null, reason: refusals.get("a") }], not_begun: [{ server_uuid: "b" }] },
  });
  expect(names([node("a", is("running")), node("b")], 2, refusals)).toEqual(["b"]);
});

const OLD = { boot_id: "boot-1", platform_image: "old" };
const draining = (drain: Draining["drain"], refusal: string | null = null): Draining => ({
  step: "drain",
  drain_id: "d",
  drain,
  refusal,
});

test("the step `drain` fails if its drain leaves an instance; otherwise its result has the id of the node's boot after the drain", () => {
  expect(nextOfNodeUpgrade(draining(null), OLD)).toEqual({ next: "drain" });
  expect(nextOfNodeUpgrade(draining(null, "no"), OLD)).toEqual({ next: "failed", reason: "no" });
  const ended = (drain: object) => nextOfNodeUpgrade(draining({ result: null, error: null, ...drain } as never), OLD);
  expect(ended({ state: "running" })).toEqual({ next: "wait" });
  expect(ended({ state: "unwound", error: "abandoned" })).toEqual({
    next: "failed",
    reason: "operation d drained the node and did not succeed: abandoned",
  });
  const left = { instance_id: "i", instance_name: "web", reason: "no room", remedy: "make room" };
  expect(ended({ state: "succeeded", result: { moved: 1, remaining: [left] } })).toEqual({
    next: "failed",
    reason: expect.stringContaining("web: no room (make room)"),
  });
  expect(ended({ state: "succeeded", result: { moved: 3, remaining: [] } })).toEqual({
    next: "completed",
    result: { operation_id: "d", moved: 3, boot_id: "boot-1" },
  });
});

test("the step `return` ends when the node reports another boot: it succeeds with the wanted image, and fails with another image", () => {
  const at: Returning = {
    step: "return",
    from_boot_id: "boot-1",
    wanted_image: "new",
    last_seen: "2026-11-21T00:00:00Z",
    is_late: false,
  };
  expect(nextOfNodeUpgrade(at, OLD)).toEqual({ next: "wait" });
  expect(nextOfNodeUpgrade(at, { boot_id: null, platform_image: null })).toEqual({ next: "wait" });
  // A report of the same boot does not end the step, whatever image the report names.
  expect(nextOfNodeUpgrade(at, { boot_id: "boot-1", platform_image: "new" })).toEqual({ next: "wait" });
  expect(nextOfNodeUpgrade(at, { boot_id: "boot-2", platform_image: "new" })).toEqual({
    next: "completed",
    result: { boot_id: "boot-2" },
  });
  expect(nextOfNodeUpgrade(at, { boot_id: "boot-2", platform_image: "old" })).toEqual({
    next: "failed",
    reason: "the node restarted with platform image old, not new",
  });
  expect(nextOfNodeUpgrade({ ...at, is_late: true }, OLD)).toEqual({
    next: "failed",
    reason: expect.stringContaining("its last heartbeat was at 2026-11-21T00:00:00Z"),
  });
});
