// Tests the relay of consoles between two sockets in memory.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { controlText } from "../../src/lib/console/frames.ts";
import type { ConsoleReport, OpenedConsole } from "../../src/services/console-live.ts";
import { createConsoleRelay } from "../../src/services/console-relay.ts";
import { fakeSocket } from "../support/fake-socket.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const CN = "00000000-0000-4000-8000-0000000000c0";
const TIMES = { check_ms: 10, dial_ms: 100, idle_ms: 1_000, lifetime_ms: 18_000, renew_ms: 50 };

function fixture(mode: OpenedConsole["mode"] = "write") {
  let now_ms = 0;
  const reasons = new Map<string, string>();
  const failures: string[] = [];
  const relay = createConsoleRelay({
    check: () => Promise.resolve(reasons),
    now_ms: () => now_ms,
    failed: (message) => failures.push(message),
    times: TIMES,
  });
  const [caller, node] = [fakeSocket(), fakeSocket()];
  const reports: ConsoleReport[] = [];
  let ended = 0;
  let isKeyValid = true;
  let isRecorded = true;
  const id = "s";
  const reference = { user_id: "u", key_id: "k", login_id: null, credential_expires_at: null, is_root: false };
  relay.open({
    ...{ id, instance_id: "i", cn: CN, mode, reference, caller: caller.socket },
    report: (message) => {
      reports.push(message);
      return Promise.resolve(isRecorded);
    },
    ended: () => void ended++,
  });
  return {
    ...{ relay, caller, node, reports, reasons, failures },
    ended: () => ended,
    refuseNode: () => isKeyValid = false,
    lapse: () => isRecorded = false,
    meet: () => relay.meet({ id, cn: CN, still: () => Promise.resolve(isKeyValid) }, node.socket),
    pass: async (duration_ms: number) => {
      now_ms += duration_ms;
      await vi.advanceTimersByTimeAsync(duration_ms);
    },
    end: () => reports.filter((each) => each.type === "end"),
  };
}

const endText = (message: string) => controlText({ type: "end", message });

test("frames pass unchanged in both directions, and the end is reported once with the byte counts of both directions", () => {
  const f = fixture();
  f.meet();
  f.caller.data("abc");
  f.node.data("12345");
  f.node.text(controlText({ type: "ready", writer: true }));
  f.caller.text(controlText({ type: "ack", bytes: 5 }));
  expect(f.node.sent).toEqual([new TextEncoder().encode("abc"), controlText({ type: "ack", bytes: 5 })]);
  expect(f.caller.sent).toEqual([new TextEncoder().encode("12345"), controlText({ type: "ready", writer: true })]);
  f.caller.gone();
  f.node.gone();
  expect(f.end()).toEqual([{ type: "end", reason: "the user closed the console", bytes_in: 3, bytes_out: 5 }]);
  expect([f.ended(), f.relay.count(), f.node.closed()]).toEqual([1, 0, ""]);
});

test("if the node does not connect, the console ends exactly at the limit", async () => {
  const f = fixture();
  await f.pass(TIMES.dial_ms - 1);
  expect(f.caller.closed()).toBeNull();
  await f.pass(1);
  expect(f.caller.closed()).toMatch(/^the node of the instance does not answer/);
  f.meet();
  expect(f.node.closed()).toBe("");
});

test("only the node of the instance can connect to the caller, and only once", () => {
  const f = fixture();
  expect(f.relay.isWaiting("s", "00000000-0000-4000-8000-0000000000ff")).toBe(false);
  expect(f.relay.isWaiting("other", CN)).toBe(false);
  expect(f.relay.isWaiting("s", CN)).toBe(true);
  f.meet();
  expect(f.relay.isWaiting("s", CN)).toBe(false);
});

describe("the caller's console ends", () => {
  test.each<[string, (f: ReturnType<typeof fixture>) => void, RegExp]>([
    ["a watcher types", (f) => f.caller.data("x"), /opened to watch/],
    [
      "the caller sends a control message that only the node may send",
      (f) => f.caller.text(endText("x")),
      /not part of its protocol/,
    ],
    ["the caller sends text that is not a control message", (f) => f.caller.text("hello"), /not part of its protocol/],
    ["the caller reads nothing while the node sends", (f) => {
      f.caller.stall();
      f.node.data("x");
    }, /sent more than the other side can receive/],
    ["the node's connection is lost", (f) => f.node.gone(), /^the connection to the node was lost/],
    ["the node ends the console", (f) => f.node.text(endText("ada is typing")), /^ada is typing$/],
    ["the server stops", (f) => f.relay.close("the control plane restarts"), /^the control plane restarts$/],
  ])("when %s", (_case, act, reason) => {
    const f = fixture("watch");
    f.meet();
    act(f);
    expect(f.caller.closed()).toMatch(reason);
    expect(f.caller.sent.at(-1)).toBe(endText(f.caller.closed()!));
    expect(f.end()).toHaveLength(1);
  });

  test("when a check finds a reason to end it, even while the caller waits for the node", async () => {
    for (const meets of [true, false]) {
      const f = fixture();
      if (meets) f.meet();
      f.reasons.set("s", "web1 is stopped");
      await f.pass(TIMES.check_ms);
      expect(f.caller.closed()).toBe("web1 is stopped");
    }
  });

  test("when the node's key is refused", async () => {
    const f = fixture();
    f.meet();
    f.refuseNode();
    await f.pass(TIMES.check_ms);
    expect(f.caller.closed()).toMatch(/^the node was removed/);
  });

  test("when a renewal finds no record of the session", async () => {
    const f = fixture();
    f.meet();
    f.lapse();
    await f.pass(TIMES.renew_ms - TIMES.check_ms);
    expect(f.caller.closed()).toBeNull();
    await f.pass(TIMES.check_ms);
    expect(f.caller.closed()).toMatch(/^the control plane could not renew the console in time/);
    expect([f.node.closed(), f.end().length, f.relay.count()]).toEqual(["", 1, 0]);
  });

  test("when nothing passes for the idle limit, but not while bytes pass", async () => {
    const f = fixture();
    f.meet();
    await f.pass(TIMES.idle_ms - TIMES.check_ms);
    f.node.data("x");
    await f.pass(TIMES.idle_ms - TIMES.check_ms);
    f.node.text(controlText({ type: "ready", writer: true }));
    expect(f.caller.closed()).toBeNull();
    await f.pass(2 * TIMES.check_ms);
    expect(f.caller.closed()).toMatch(/because no data was sent/);
  });

  test("after its lifetime, even if bytes pass", async () => {
    const f = fixture();
    f.meet();
    for (let passed_ms = 0; passed_ms < TIMES.lifetime_ms; passed_ms += TIMES.idle_ms / 2) {
      expect(f.caller.closed()).toBeNull();
      f.node.data("x");
      await f.pass(TIMES.idle_ms / 2);
    }
    expect(f.caller.closed()).toBe("a console is closed after 0.005 hours. Open it again");
  });
});

test("a console is renewed while it lasts", async () => {
  const f = fixture();
  f.meet();
  await f.pass(TIMES.renew_ms);
  await f.pass(TIMES.renew_ms);
  expect(f.reports.map(({ type }) => type)).toEqual(["meet", "renew", "renew"]);
});

test("a check that fails is reported and repeated; the console continues", async () => {
  let isBroken = true;
  const failures: string[] = [];
  const caller = fakeSocket();
  const relay = createConsoleRelay({
    check: () => isBroken ? Promise.reject(new Error("no database")) : Promise.resolve(new Map([["s", "late"]])),
    now_ms: () => 0,
    failed: (message) => failures.push(message),
    times: TIMES,
  });
  const reference = { user_id: "u", key_id: "k", login_id: null, credential_expires_at: null, is_root: false };
  const ids = { id: "s", instance_id: "i", cn: CN, mode: "write", reference } as const;
  relay.open({ ...ids, caller: caller.socket, report: () => Promise.resolve(true), ended: () => {} });
  await vi.advanceTimersByTimeAsync(TIMES.check_ms);
  expect([failures.length, caller.closed()]).toEqual([1, null]);
  isBroken = false;
  await vi.advanceTimersByTimeAsync(TIMES.check_ms);
  expect(caller.closed()).toBe("late");
});
