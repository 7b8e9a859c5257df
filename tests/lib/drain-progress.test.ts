// Tests the next action of a drain: to move some instances, or to end the drain.
import { expect, test } from "vitest";
import { DRAIN_TRIES_MAX } from "../../src/contract/limits.ts";
import { type Move, nextOfDrain } from "../../src/lib/placement/drain-progress.ts";

const move = (instance_id: string, change: Partial<Move> = {}): Move => ({
  instance_id,
  instance_name: instance_id,
  target_cn_uuid: "to",
  is_here: true,
  was_deleted: false,
  is_occupied: false,
  failure: null,
  ...change,
});
const refused = (tries: number) => new Map([["a", { tries, reason: "no room" }]]);

test("the instances on the node move in order; a drain waits for an instance on which another operation runs", () => {
  const moves = [move("a", { is_occupied: true }), move("b"), move("c", { is_here: false }), move("d")];
  expect(nextOfDrain(moves, [], new Map())).toEqual({ next: "move", moves: [moves[1], moves[3]] });
  expect(nextOfDrain(moves.slice(0, 1), [], new Map())).toEqual({ next: "move", moves: [] });
});

test("after DRAIN_TRIES_MAX refusals of an instance, a drain does not try to move this instance again", () => {
  expect(nextOfDrain([move("a")], [], refused(DRAIN_TRIES_MAX - 1))).toMatchObject({ next: "move" });
  expect(nextOfDrain([move("a")], [], refused(DRAIN_TRIES_MAX))).toMatchObject({
    next: "end",
    result: { moved: 0, remaining: [{ instance_id: "a", reason: "no room" }] },
  });
});

test("a failed migration is not repeated", () => {
  const moves = [move("a", { failure: "the disk is full" }), move("b", { is_here: false })];
  expect(nextOfDrain(moves, [], new Map())).toMatchObject({
    next: "end",
    result: { moved: 1, remaining: [{ instance_id: "a", reason: "the disk is full" }] },
  });
});
