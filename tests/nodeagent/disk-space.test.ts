// Tests how the agent continues a guest after the node's disk was full. The monitor is a fake; the file system is real.
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSpaceWaiter } from "../../nodeagent/qemu/disk-space.ts";
import type { VmPlaces } from "../../nodeagent/qemu/folders.ts";
import { monitorVm, type VmMonitor } from "../../nodeagent/qemu/vm-monitor.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { type FakeMonitor, fakeMonitor } from "./qmp-monitor.ts";

const NO_SPACE = { event: "BLOCK_IO_ERROR", data: { nospace: true, action: "stop" } };

let folder: TemporaryFolder;
let qemu: FakeMonitor | undefined;
let monitor: VmMonitor | undefined;
beforeEach(async () => {
  folder = await temporaryFolder("disk-space");
});
afterEach(async () => {
  monitor?.close();
  await qemu?.remove();
  qemu = monitor = undefined;
  await folder.remove();
});

test("a guest whose disk is full again when `cont` answers is continued a second time", async () => {
  let continued = 0;
  qemu = await fakeMonitor(({ execute, id }) => {
    if (execute === "query-status") return { return: { status: "io-error" } };
    if (execute !== "cont") return { return: {} };
    continued++;
    if (continued > 1) return { return: {} };
    // One write: the client reads both lines at once.
    qemu!.send([{ return: {}, id }, NO_SPACE].map((line) => `${JSON.stringify(line)}\r\n`).join(""));
    return null;
  });
  const log: string[] = [];
  const folders = { machine_dir: folder.path, run_dir: folder.path };
  const signal = new AbortController().signal;
  const wait = createSpaceWaiter({ folders, signal, log: (line) => void log.push(line) }, () => monitor);
  const places = { socket: (name: string) => name === "qmp" ? qemu!.path : `${folder.path}/${name}` };
  monitor = await monitorVm(places as unknown as VmPlaces, {
    limit_ms: 5_000,
    isGone: () => Promise.resolve(false),
    onNoSpace: () => wait("vm-1"),
  });
  const round = [
    "VM vm-1: waits, because the node's disk is full",
    "VM vm-1: continues, because the node's disk has space again",
  ];
  await expect.poll(() => continued, { timeout: 10_000 }).toBe(2);
  expect(log).toEqual([...round, ...round]);
});
