// Tests every cell of the node's transition table for the messages of netboot, and the time limits in these cells.
// tests/actors covers the table's other messages. docs/nodes.md, "States".
import { describe, expect, test } from "vitest";
import type { CnMessage } from "../../actors/cn/messages.ts";
import type { CnState } from "../../actors/cn/state.ts";
import { cn, cnTable } from "../../actors/cn/transition.ts";
import type { Out } from "../../actors/engine/types.ts";
import { EPOCH, IN, KEY, MACS, MESSAGES, NOW, OPERATION, SETTING_UP, UUID } from "./cells.ts";

// go:<state>: a transition; gone: the record is deleted; 404, 409: the message is refused; ignore: nothing changes.
const CELLS = `
message            absent             pending      approved           disabled           awaiting_setup     setting_up
announce           go:awaiting_setup  go:pending   go:approved        go:disabled        go:awaiting_setup  go:setting_up
approve_setup      404                409          409                409                go:setting_up      409
take_bundle        404                409          409                409                409                409
setup_delivered    404                409          409                409                409                go:setting_up
hand_over_bundle   404                409          409                409                409                409
setup_progressed   404                409          409                409                409                go:setting_up
setup_completed    404                409          409                409                409                go:approved
setup_failed       404                409          409                409                409                go:awaiting_setup
revert_setup       ignore             ignore       ignore             ignore             ignore             go:awaiting_setup
set_traits         404                go:pending   go:approved        go:disabled        go:awaiting_setup  go:setting_up
set_placement      404                go:pending   go:approved        go:disabled        go:awaiting_setup  go:setting_up
set_root_password  404                go:pending   go:approved        go:disabled        go:awaiting_setup  go:setting_up
factory_reset      404                409          go:awaiting_setup  go:awaiting_setup  409                409
remove             ignore             gone         409                gone               gone               409
tick               ignore             ignore       ignore             ignore             ignore             ignore
`;
const [HEAD = "", ...ROWS] = CELLS.trim().split("\n");
const STATES = HEAD.split(/\s+/).slice(1);
const EXPECTED = ROWS.flatMap((row) => {
  const [message = "", ...cells] = row.split(/\s+/);
  return cells.map((cell, index) => [message, STATES[index] ?? "", cell] as const);
});

const later = (ms: number) => new Date(NOW.getTime() + ms);
const step = (state: CnState | null, message: CnMessage, now = NOW): Out<CnState> => cn.step(state, message, now);

function describeOut(out: Out<CnState>): string {
  if (out.out === "ignore") return "ignore";
  if (out.out === "go") return out.next === null ? "gone" : `go:${out.next.state}`;
  return out.fault.kind === "not_found" ? "404" : "409";
}

test("CELLS has every cell of the transition table for every message in MESSAGES", () => {
  const cells = Object.keys(MESSAGES).flatMap((message) =>
    Object.keys(cnTable[message as CnMessage["type"]]).map((state) => `${message}/${state}`)
  );
  expect(EXPECTED.map(([message, state]) => `${message}/${state}`).sort()).toEqual(cells.sort());
});

test.each(EXPECTED)("%s in state %s: %s", (message, state, expected) => {
  expect(describeOut(step(IN[state] ?? null, MESSAGES[message as keyof typeof MESSAGES]))).toBe(expected);
});

describe("the deadline", () => {
  const LIMIT_MS = 45 * 60 * 1_000;

  test.each([[0], [LIMIT_MS - 1], [LIMIT_MS]])("a tick %d ms after the approval changes nothing", (ms) => {
    expect(step(SETTING_UP, MESSAGES.tick, later(ms))).toEqual({ out: "ignore" });
  });

  test("a tick one millisecond after 45 minutes reverts the node and revokes its key", () => {
    const out = step(SETTING_UP, MESSAGES.tick, later(LIMIT_MS + 1));
    expect(out).toMatchObject({
      out: "go",
      next: {
        state: "awaiting_setup",
        approved_at: null,
        bound_api_key_id: null,
        pending_credential: null,
        ticket_keys: null,
        setup_epoch: null,
        last_setup_error: "cn setup exceeded its deadline without reporting complete/failed; reverted by reconciler",
      },
    });
    const parts = out.out === "go" ? out.parts : [];
    expect(parts).toContainEqual({ part: "with", to: { kind: "api-key", id: KEY.id }, message: { type: "revoke" } });
    expect(parts).toContainEqual(expect.objectContaining({ part: "tell", to: { kind: "saga", id: OPERATION } }));
  });

  test("is the first millisecond at which a tick has an effect; other states have no deadline", () => {
    expect(cn.deadline(SETTING_UP)).toEqual(later(LIMIT_MS + 1));
    for (const state of ["pending", "approved", "disabled", "awaiting_setup"]) {
      const at = IN[state];
      expect(at && cn.deadline(at)).toBeNull();
    }
  });
});

test("revert_setup with the epoch of another run is ignored", () => {
  expect(step(SETTING_UP, { ...MESSAGES.revert_setup, epoch: EPOCH - 1 })).toEqual({ out: "ignore" });
});

test("setup_completed enrols the boot records of all announced ports, and no other boot records", () => {
  const out = step(SETTING_UP, MESSAGES.setup_completed);
  const included = out.out === "go" ? out.parts.flatMap((part) => part.part === "with" ? [part.to.id] : []) : [];
  expect(included).toEqual(MACS);
});

test("a factory reset keeps the node's identity, hardware, role, operator settings and root password hash", () => {
  const approved = IN["approved"] as CnState;
  const out = step(approved, MESSAGES.factory_reset);
  expect(out.out === "go" && out.next).toEqual({
    ...approved,
    state: "awaiting_setup",
    approved_at: null,
    bound_api_key_id: null,
    pending_credential: null,
    ticket_keys: null,
    disk_layout: null,
    setup_progress: null,
    setup_epoch: null,
    setup_operation_id: null,
    bundle_taken: false,
    last_setup_error: "factory reset by operator",
    root_password_hash: "$6$salt$hash",
  });
});

test("reset and removal check the same guards, in order, under the node's lock", () => {
  const guardsOf = (message: CnMessage) => {
    const out = step(IN["disabled"] ?? null, message);
    if (out.out !== "go") throw new Error("expected a transition");
    expect(out.parts[0]).toEqual({ part: "lock", key: `cn:${UUID}`, shared: false });
    return out.parts.flatMap((part) => part.part === "guard" ? [part.name] : []);
  };
  const common = ["no_instance_on_cn", "no_reservation_on_cn", "no_migration_of_cn"];
  expect(guardsOf(MESSAGES.remove)).toEqual(common);
  expect(guardsOf(MESSAGES.factory_reset)).toEqual([...common, "enrollment_pi_is_staged"]);
});
