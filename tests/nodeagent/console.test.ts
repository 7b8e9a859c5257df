// Tests the node's end of a console: the ring buffer of the last output, and several users at the console of one VM.
import { describe, expect, onTestFinished, test } from "vitest";
import { Unreachable } from "../../cli/internal/exchange.ts";
import { createConsoles } from "../../nodeagent/console/consoles.ts";
import { simulatedDriver } from "../../nodeagent/simulated-driver.ts";
import { fakeEnvironment } from "../cli/fake-environment.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { createFeed } from "../../nodeagent/console/feed.ts";
import { createHub } from "../../nodeagent/console/hub.ts";
import type { ClientSocket, SocketListener } from "../../cli/internal/websocket.ts";
import { CONSOLE_REDIAL_MS, CONSOLE_WINDOW_BYTES } from "../../src/contract/limits.ts";
import type { ConsoleCall } from "../../src/contract/console.ts";
import { type ConsoleControl, controlText, parseControl } from "../../src/lib/console/frames.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

describe("the ring", () => {
  test("keeps the last bytes, even if they wrap around the end of its memory", () => {
    const feed = createFeed(8);
    for (const piece of ["abc", "defgh", "ij"]) feed.append(bytesOf(piece));
    expect([feed.start(), feed.end()]).toEqual([2, 10]);
    const first = feed.read(2, 8);
    expect(textOf(first) + textOf(feed.read(2 + first.length, 8))).toBe("cdefghij");
  });

  test("keeps the end of a piece that is larger than the ring", () => {
    const feed = createFeed(4);
    feed.append(bytesOf("x"));
    feed.append(bytesOf("0123456789"));
    expect([feed.start(), feed.end()]).toEqual([7, 11]);
    let text = "";
    for (let at = feed.start(); at < feed.end();) {
      const piece = feed.read(at, 4);
      text += textOf(piece);
      at += piece.length;
    }
    expect(text).toBe("6789");
  });
});

/** A VM console to which the test writes as the guest. */
function fakeVm(ring = "", reads: () => Promise<void> = () => Promise.resolve()) {
  const listeners = new Set<(bytes: Uint8Array) => void>();
  const typed: string[] = [];
  return {
    typed,
    listeners,
    print: (text: string) => listeners.forEach((listener) => listener(bytesOf(text))),
    console: {
      ring: () => bytesOf(ring),
      subscribe: (listener: (bytes: Uint8Array) => void) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      write: (bytes: Uint8Array) => {
        typed.push(textOf(bytes));
        return reads();
      },
    },
  };
}

function fakeSocket() {
  const controls: ConsoleControl[] = [];
  let text = "";
  let bytes = 0;
  let listener: SocketListener | null = null;
  let closed = false;
  const socket: ClientSocket = {
    send: (data) => {
      if (typeof data === "string") controls.push(parseControl(data)!);
      else {
        text += textOf(data);
        bytes += data.length;
      }
    },
    close: () => {
      closed = true;
      listener?.onClose("");
    },
    listen: (given) => listener = given,
  };
  return {
    socket,
    controls,
    text: () => text,
    bytes: () => bytes,
    isClosed: () => closed,
    types: (typed: string) => listener!.onData(bytesOf(typed)),
    confirms: (count: number) => listener!.onText(controlText({ type: "ack", bytes: count })),
  };
}

function call(change: Partial<ConsoleCall> = {}): ConsoleCall {
  const ids = { session_id: crypto.randomUUID(), instance_id: "i", relay_url: null };
  return { ...ids, mode: "write", take_over: false, history_bytes: 4, username: "ada", ...change };
}

test("a console first gets the newest bytes of the ring, and then what the guest writes", () => {
  const vm = fakeVm("booted");
  const hub = createHub(vm.console, () => {});
  const user = fakeSocket();
  hub.join(call(), user.socket);
  vm.print("!");
  user.types("ls\r");
  expect([user.controls, user.text(), vm.typed]).toEqual([[{ type: "ready", writer: true }], "oted!", ["ls\r"]]);
});

test("a second writer is refused with the name of the first writer; after a take-over, the first console only watches", () => {
  const vm = fakeVm();
  const hub = createHub(vm.console, () => {});
  const [first, second, third] = [fakeSocket(), fakeSocket(), fakeSocket()];
  hub.join(call(), first.socket);
  hub.join(call({ username: "eve" }), second.socket);
  expect(second.isClosed()).toBe(true);
  expect(second.controls).toEqual([{ type: "end", message: expect.stringMatching(/^ada is typing/) }]);
  hub.join(call({ username: "eve", take_over: true }), third.socket);
  expect(first.controls.at(-1)).toEqual({ type: "demoted", by: "eve" });
  first.types("no");
  third.types("yes");
  expect(vm.typed).toEqual(["yes"]);
  third.socket.close();
  first.types("still no");
  expect(vm.typed).toEqual(["yes"]);
});

test("typed bytes are confirmed after the VM has taken them", async () => {
  const { promise: read, resolve: guestReads } = Promise.withResolvers<void>();
  const hub = createHub(fakeVm("", () => read).console, () => {});
  const user = fakeSocket();
  hub.join(call(), user.socket);
  user.types("x".repeat(CONSOLE_WINDOW_BYTES));
  await Promise.resolve();
  expect(user.controls).toEqual([{ type: "ready", writer: true }]);
  guestReads();
  await expect.poll(() => user.controls.at(-1)).toEqual({ type: "ack", bytes: CONSOLE_WINDOW_BYTES });
});

test("a console ends if it types more than its window before the VM takes the typed bytes", () => {
  const vm = fakeVm("", () => new Promise(() => {}));
  const hub = createHub(vm.console, () => {});
  const user = fakeSocket();
  hub.join(call(), user.socket);
  user.types("x".repeat(CONSOLE_WINDOW_BYTES));
  user.types("y");
  expect(user.controls.at(-1)).toEqual({ type: "end", message: expect.stringContaining("window") });
  expect([user.isClosed(), vm.typed.at(-1)?.at(0)]).toEqual([true, "x"]);
});

test("a reader that confirms nothing gets one window of bytes; after its confirmation it gets the number of skipped bytes", () => {
  const vm = fakeVm();
  const hub = createHub(vm.console, () => {});
  const slow = fakeSocket();
  hub.join(call({ mode: "watch" }), slow.socket);
  for (let written = 0; written < 3 * 2 ** 20; written += 2 ** 14) vm.print("x".repeat(2 ** 14));
  expect([slow.bytes(), slow.controls.length]).toEqual([65_536, 1]);
  slow.confirms(65_536);
  expect(slow.controls.at(-1)).toEqual({ type: "skipped", bytes: 2 * 2 ** 20 - 65_536 });
  expect(slow.bytes()).toBe(2 * 65_536);
  slow.confirms(65_537);
  expect(slow.isClosed()).toBe(true);
});

test("a log contains the whole ring and then ends; it does not contain what the guest writes meanwhile", () => {
  const vm = fakeVm("0123456789");
  let left = 0;
  const hub = createHub(vm.console, () => left++);
  const reader = fakeSocket();
  hub.join(call({ mode: "log" }), reader.socket);
  vm.print("later");
  expect([reader.text(), reader.controls.at(-1), left]).toEqual(["0123456789", { type: "done" }, 1]);
  expect(vm.listeners.size).toBe(0);
});

test("after a restart of the VM, the users of its console see the output of the new console", () => {
  const [before, after] = [fakeVm(), fakeVm("new ")];
  const hub = createHub(before.console, () => {});
  const user = fakeSocket();
  hub.join(call({ mode: "watch" }), user.socket);
  hub.follow(after.console);
  before.print("lost");
  after.print("kept");
  expect(user.text()).toBe("new kept");
});

test("a node behind a proxy dials about 20 times in 10 s, so that one attempt reaches the server that waits for the node", async () => {
  const { path: state_dir, remove } = await temporaryFolder("redial");
  onTestFinished(remove);
  const urls: string[] = [];
  const { environment, slept_ms, err } = fakeEnvironment({
    dial: (url) => {
      urls.push(url);
      return Promise.reject(new Unreachable("404", 1));
    },
  });
  const driver = await simulatedDriver({ state_dir, server_uuid: undefined, hostname: undefined, environment });
  const agent = { driver, environment, link: { endpoint: "https://berth.example", user_agent: "nodeagent" } };
  const answered = call();
  createConsoles(agent, "key").answer([answered]);
  await expect.poll(err).toContain("404");
  expect(new Set(urls)).toEqual(new Set([`https://berth.example/v1/agent/consoles/${answered.session_id}`]));
  expect([urls.length, slept_ms]).toEqual([21, [CONSOLE_REDIAL_MS, ...Array(19).fill(500)]]);
});
