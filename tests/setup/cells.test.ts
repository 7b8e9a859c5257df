// Every cell of the netboot path in the node's transition table, and the boundaries inside the cells. Document 2, CN
// state. What the columns other than these rows hold is in tests/actors.
import { describe, expect, test } from "vitest";
import type { CnMessage } from "../../actors/cn/messages.ts";
import type { CnState } from "../../actors/cn/state.ts";
import { cn, cnTable } from "../../actors/cn/transition.ts";
import type { Out } from "../../actors/engine/types.ts";
import { EPOCH, IN, KEY, MACS, MESSAGES, NOW, OPERATION, SETTING_UP, UUID } from "./cells.ts";

// go:<state> a transition; gone: the record is removed; 404, 409; ignore: answered as it is.
const CELLS = `
message            absent             pending      approved           disabled           awaiting_setup     setting_up
announce           go:awaiting_setup  go:pending   go:approved        go:disabled        go:awaiting_setup  go:setting_up
approve_setup      404                409          409                409                go:setting_up      409
take_bundle        404                409          409                409                409                409
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

function word(out: Out<CnState>): string {
  if (out.out === "ignore") return "ignore";
  if (out.out === "go") return out.next === null ? "gone" : `go:${out.next.state}`;
  return out.fault.kind === "not_found" ? "404" : "409";
}

test("the cells below are those of the table, for every message that has a sample", () => {
  const cells = Object.keys(MESSAGES).flatMap((message) =>
    Object.keys(cnTable[message as CnMessage["type"]]).map((state) => `${message}/${state}`)
  );
  expect(EXPECTED.map(([message, state]) => `${message}/${state}`).sort()).toEqual(cells.sort());
});

test.each(EXPECTED)("%s in state %s: %s", (message, state, expected) => {
  expect(word(step(IN[state] ?? null, MESSAGES[message as keyof typeof MESSAGES]))).toBe(expected);
});

describe("the text of a refusal", () => {
  const TEXTS: Record<string, string> = {
    approve_setup: "cn is <STATE>; only a node that is awaiting setup can be approved for setup",
    take_bundle: "cn is <STATE>; no setup is running on it",
    setup_progressed: "cn is <STATE>; no setup is running on it",
    setup_completed: "cn is <STATE>; no setup is running on it",
    setup_failed: "cn is <STATE>; no setup is running on it",
    factory_reset: "cn is <STATE>; only an approved or disabled node can be factory reset",
  };
  const refused = EXPECTED.filter(([message, , cell]) => cell === "409" && message !== "remove");

  test.each(refused)("of %s names the state %s", (message, state) => {
    const out = step(IN[state] ?? null, MESSAGES[message as keyof typeof MESSAGES]);
    const expected = message === "take_bundle" && state === "setting_up"
      ? "the setup bundle of this run was taken already"
      : TEXTS[message]?.replace("<STATE>", state);
    expect(out).toEqual({ out: "refuse", fault: { kind: "conflict", message: expected, error_code: "Conflict" } });
  });

  test("of remove says what to do", () => {
    expect(step(IN["approved"] ?? null, MESSAGES.remove)).toMatchObject({
      fault: { message: "cn is approved; disable it before removing" },
    });
    expect(step(SETTING_UP, MESSAGES.remove)).toMatchObject({
      fault: { message: "cn is setting_up; wait for setup to finish or fail before removing" },
    });
  });
});

describe("the deadline", () => {
  const LIMIT_MS = 45 * 60 * 1_000;

  test.each([[0], [LIMIT_MS - 1], [LIMIT_MS]])("a tick %d ms after the approval changes nothing", (ms) => {
    expect(step(SETTING_UP, MESSAGES.tick, later(ms))).toEqual({ out: "ignore" });
  });

  test("a tick one millisecond after 45 minutes takes the node back and revokes its key", () => {
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

  test("the tick is asked for at the first millisecond at which it does something", () => {
    expect(cn.deadline(SETTING_UP)).toEqual(later(LIMIT_MS + 1));
    for (const state of ["pending", "approved", "disabled", "awaiting_setup"]) {
      const at = IN[state];
      expect(at && cn.deadline(at)).toBeNull();
    }
  });
});

describe("a message of another run", () => {
  test.each(["setup_progressed", "setup_completed", "setup_failed"] as const)("%s is refused", (type) => {
    for (const epoch of [EPOCH - 1, EPOCH + 1]) {
      expect(word(step(SETTING_UP, { ...MESSAGES[type], epoch }))).toBe("409");
    }
  });

  test("revert_setup is ignored", () => {
    expect(step(SETTING_UP, { ...MESSAGES.revert_setup, epoch: EPOCH - 1 })).toEqual({ out: "ignore" });
  });
});

test("complete takes every announced port's record along, and only those", () => {
  const out = step(SETTING_UP, MESSAGES.setup_completed);
  const along = out.out === "go" ? out.parts.flatMap((part) => part.part === "with" ? [part.to.id] : []) : [];
  expect(along).toEqual(MACS);
});

test("a factory reset keeps identity, hardware, role, what operators set and the root password's hash", () => {
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

test("a reset and a removal check the same guards, in order, under the lock of the node", () => {
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
