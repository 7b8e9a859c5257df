// Tests the next action of a drain by label: to begin the drains of some nodes, or to end the drain by label.
import { expect, test } from "vitest";
import type { DrainResult } from "../../src/contract/drain.ts";
import { type DrainedNode, nextOfLabelDrain } from "../../src/lib/placement/label-drain-progress.ts";

const NONE: ReadonlyMap<string, string> = new Map();
const LEFT: DrainResult["remaining"][number] = {
  instance_id: "i",
  instance_name: "web",
  reason: "no room",
  remedy: "make room",
};

const node = (name: string, drain: DrainedNode["drain"] = null): DrainedNode => ({
  server_uuid: name,
  hostname: `host-${name}`,
  operation_id: `drain-${name}`,
  drain,
});
const RUNS: DrainedNode["drain"] = { state: "running", result: null, error: null };
const emptied = (moved: number, remaining: DrainResult["remaining"] = []): DrainedNode["drain"] => ({
  state: "succeeded",
  result: { moved, remaining },
  error: null,
});
const names = (nodes: readonly DrainedNode[], most: number, refusals = NONE) => {
  const decided = nextOfLabelDrain(nodes, most, refusals);
  return decided.next === "begin" ? decided.nodes.map(({ server_uuid }) => server_uuid) : decided.next;
};

test("the drains of the nodes begin in order, and at most max_unavailable drains run at a time", () => {
  expect(names([node("a"), node("b"), node("c")], 1)).toEqual(["a"]);
  expect(names([node("a"), node("b"), node("c")], 2)).toEqual(["a", "b"]);
  expect(names([node("a", RUNS), node("b"), node("c")], 1)).toEqual([]);
  expect(names([node("a", RUNS), node("b", emptied(1)), node("c")], 2)).toEqual(["c"]);
});

test("a node whose drain is being rolled back still counts toward max_unavailable", () => {
  expect(names([node("a", { state: "unwinding", result: null, error: null }), node("b")], 1)).toEqual([]);
});

test("the operation ends when every node is empty", () => {
  expect(nextOfLabelDrain([node("a", emptied(2)), node("b", emptied(0))], 1, NONE)).toEqual({
    next: "end",
    result: {
      drained: [
        { server_uuid: "a", hostname: "host-a", operation_id: "drain-a", moved: 2 },
        { server_uuid: "b", hostname: "host-b", operation_id: "drain-b", moved: 0 },
      ],
      not_emptied: [],
      not_begun: [],
    },
  });
});

test("after a drain that left instances on its node, no other drain begins, and the operation ends after the running drains", () => {
  const stuck = node("a", emptied(1, [LEFT]));
  expect(names([stuck, node("b", RUNS), node("c")], 2)).toEqual([]);
  expect(nextOfLabelDrain([stuck, node("b", emptied(3)), node("c")], 2, NONE)).toEqual({
    next: "end",
    result: {
      drained: [{ server_uuid: "b", hostname: "host-b", operation_id: "drain-b", moved: 3 }],
      not_emptied: [{
        server_uuid: "a",
        hostname: "host-a",
        operation_id: "drain-a",
        reason: "1 instance is still on the node",
        remedy: "follow the remedy of each instance, then drain the label again",
        remaining: [LEFT],
      }],
      not_begun: [{ server_uuid: "c", hostname: "host-c" }],
    },
  });
});

test.each(["unwound", "failed", "stuck"] as const)(
  "if the drain of a node is %s, no other drain begins, and the operation ends",
  (state) => {
    const abandoned = node("a", { state, result: null, error: "abandoned by an operator" });
    expect(nextOfLabelDrain([abandoned, node("b")], 1, NONE)).toMatchObject({
      next: "end",
      result: { drained: [], not_emptied: [{ reason: expect.stringContaining("abandoned by an operator") }] },
    });
  },
);

test("a refused drain stops the operation, unless the drain began in another process", () => {
  const refusals = new Map([["a", "operation X already drains or evacuates the node"]]);
  expect(nextOfLabelDrain([node("a"), node("b")], 1, refusals)).toMatchObject({
    next: "end",
    result: {
      not_emptied: [{ reason: "operation X already drains or evacuates the node" }],
      not_begun: [{ server_uuid: "b" }],
    },
  });
  expect(names([node("a", RUNS), node("b")], 2, refusals)).toEqual(["b"]);
});

test("processes that read different states begin at most max_unavailable drains in total", () => {
  const most = 2;
  const early = [node("a", RUNS), node("b"), node("c"), node("d")];
  const late = [node("a", emptied(0)), node("b", RUNS), node("c"), node("d")];
  const begun = new Set([...names(early, most), ...names(late, most)]);
  expect([...begun].sort()).toEqual(["b", "c"]);
});
