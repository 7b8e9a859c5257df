// Tests the client of the QEMU Machine Protocol against a fake monitor.
import { afterEach, expect, test } from "vitest";
import { connectQmp, openQmp, type Qmp, QmpError } from "../../nodeagent/qemu/qmp.ts";
import type { QmpEvent } from "../../nodeagent/qemu/qmp-messages.ts";
import { type FakeMonitor, fakeMonitor } from "./qmp-monitor.ts";

let monitor: FakeMonitor | undefined;
let qmp: Qmp | undefined;

afterEach(async () => {
  qmp?.close();
  await monitor?.remove();
  qmp = monitor = undefined;
});

test("the client negotiates after the greeting, and gives each command its own id", async () => {
  monitor = await fakeMonitor();
  qmp = await openQmp(monitor.path);
  await qmp.execute("cont");
  await qmp.execute("block_resize", { "node-name": "disk0", size: 1 });
  expect(monitor.commands).toEqual([
    { execute: "qmp_capabilities", arguments: {}, id: 1 },
    { execute: "cont", id: 2 },
    { execute: "block_resize", arguments: { "node-name": "disk0", size: 1 }, id: 3 },
  ]);
});

test("the client assigns answers to commands by their ids, in any order", async () => {
  const late: number[] = [];
  monitor = await fakeMonitor(({ execute, id }) => {
    if (execute === "qmp_capabilities") return { return: {} };
    late.push(id);
    return null;
  });
  qmp = await openQmp(monitor.path);
  const status = qmp.execute("query-status");
  const statistics = qmp.execute("query-blockstats");
  await expect.poll(() => late).toHaveLength(2);
  monitor.send({ return: [], id: late[1] });
  monitor.send({ return: { status: "running" }, id: late[0] });
  expect(await status).toEqual({ status: "running" });
  expect(await statistics).toEqual([]);
});

test("an error answer is a QmpError with QEMU's class and text", async () => {
  monitor = await fakeMonitor(({ execute }) =>
    execute === "cont" ? { error: { class: "GenericError", desc: "Resetting the VM is required" } } : { return: {} }
  );
  qmp = await openQmp(monitor.path);
  const error = await qmp.execute("cont").catch((error) => error);
  expect(error).toBeInstanceOf(QmpError);
  expect(error).toMatchObject({ kind: "GenericError", message: "cont: Resetting the VM is required" });
});

test("a command without an answer fails after its limit, and its late answer is ignored", async () => {
  monitor = await fakeMonitor(({ execute }) => execute === "stop" || execute === "cont" ? null : { return: {} });
  qmp = await openQmp(monitor.path);
  await expect(qmp.execute("cont", {}, 20)).rejects.toMatchObject({ kind: "Timeout" });
  monitor.send({ return: {}, id: 2 });
  await qmp.execute("query-status");
});

test("commands without an answer fail when QEMU ends, and later commands fail too", async () => {
  monitor = await fakeMonitor(({ execute }) => execute === "cont" ? null : { return: {} });
  qmp = await openQmp(monitor.path);
  const waiting = qmp.execute("cont").catch((error) => error);
  await expect.poll(() => monitor!.commands.length).toBe(2);
  monitor.hangUp();
  await qmp.closed;
  expect(await waiting).toMatchObject({ kind: "Closed" });
  await expect(qmp.execute("cont")).rejects.toMatchObject({ kind: "Closed" });
});

test("the client delivers the known events in order, even when they are split over packets, and ignores other events", async () => {
  monitor = await fakeMonitor();
  qmp = await openQmp(monitor.path);
  const events: QmpEvent[] = [];
  const text = JSON.stringify({ event: "SHUTDOWN", data: { guest: true, reason: "guest-shutdown" }, timestamp: {} });
  const end = qmp.subscribe((event) => void events.push(event));
  monitor.send({ event: "NIC_RX_FILTER_CHANGED", data: {} });
  monitor.send(text.slice(0, 20));
  await new Promise((resolve) => setTimeout(resolve, 20));
  monitor.send(`${text.slice(20)}\r\n`);
  monitor.send({ event: "BLOCK_IO_ERROR", data: { nospace: true, action: "stop" } });
  monitor.send({ event: "GUEST_PANICKED", data: { action: "pause" } });
  await expect.poll(() => events).toEqual([
    { event: "SHUTDOWN", guest: true, reason: "guest-shutdown" },
    { event: "BLOCK_IO_ERROR", nospace: true, action: "stop" },
    { event: "GUEST_PANICKED" },
  ]);
  end();
  monitor.send({ event: "STOP" });
  await qmp.execute("query-status");
  expect(events).toHaveLength(3);
});

test("a monitor that serves another client does not greet: connecting fails after the limit", async () => {
  monitor = await fakeMonitor();
  qmp = await openQmp(monitor.path);
  await expect(openQmp(monitor.path, 30)).rejects.toMatchObject({ kind: "Timeout", message: /greeting/ });
});

test("if QEMU does not listen, the client retries until its limit has passed or QEMU has ended, and then fails", async () => {
  monitor = await fakeMonitor();
  const path = monitor.path;
  await monitor.remove();
  await expect(connectQmp(path, { limit_ms: 60 })).rejects.toThrow("ENOENT");
  await expect(connectQmp(path, { limit_ms: 5_000, isGone: () => true })).rejects.toThrow("ENOENT");
});

test("the client finds the same QEMU again after the agent has restarted", async () => {
  monitor = await fakeMonitor(({ execute }) => ({ return: execute === "query-status" ? { status: "running" } : {} }));
  qmp = await openQmp(monitor.path);
  qmp.close();
  await qmp.closed;
  qmp = await connectQmp(monitor.path, { limit_ms: 5_000 });
  expect(await qmp.execute("query-status")).toEqual({ status: "running" });
});

test.each([
  ["text that is not JSON", "hello\n"],
  ["a line without an end", "x".repeat(5 * 2 ** 20)],
])("the client closes the connection after %s", async (_, text) => {
  monitor = await fakeMonitor();
  qmp = await openQmp(monitor.path);
  monitor.send(text);
  await qmp.closed;
});
