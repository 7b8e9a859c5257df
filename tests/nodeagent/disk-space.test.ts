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

/**
 * Opens a monitor of QEMU. If the guest stops on a full disk, a waiter continues the guest later. `log` has the
 * waiter's lines.
 */
async function watch(path: string): Promise<{ monitor: VmMonitor; log: string[] }> {
  const log: string[] = [];
  const folders = { machine_dir: folder.path, run_dir: folder.path };
  const signal = new AbortController().signal;
  const wait = createSpaceWaiter({ folders, signal, log: (line) => void log.push(line) }, () => monitor);
  const places = { socket: (name: string) => name === "qmp" ? path : `${folder.path}/${name}` };
  // The monitor uses only the paths of the sockets.
  const opened = await monitorVm(places as unknown as VmPlaces, {
    limit_ms: 5_000,
    isGone: () => Promise.resolve(false),
    onNoSpace: () => wait("vm-1"),
  });
  return { monitor: opened, log };
}

test("a guest that has migrated away while it waited for space is not continued", async () => {
  let asked = 0;
  const commands: string[] = [];
  qemu = await fakeMonitor(({ execute }) => {
    commands.push(execute);
    if (execute !== "query-status") return { return: {} };
    return { return: { status: ++asked === 1 ? "io-error" : "postmigrate" } };
  });
  const watched = await watch(qemu.path);
  monitor = watched.monitor;
  await expect.poll(() => asked, { timeout: 10_000 }).toBe(2);
  expect(watched.log).toEqual(["VM vm-1: waits, because the node's disk is full"]);
  expect(commands).not.toContain("cont");
});

test("a guest whose disk is full again when `cont` answers is continued a second time", async () => {
  let continued = 0;
  qemu = await fakeMonitor(({ execute, id }) => {
    if (execute === "query-status") return { return: { status: "io-error" } };
    if (execute !== "cont") return { return: {} };
    continued++;
    if (continued > 1) return { return: {} };
    // Sends the answer and the event in one write, so that the client reads them at once.
    qemu!.send([{ return: {}, id }, NO_SPACE].map((line) => `${JSON.stringify(line)}\r\n`).join(""));
    return null;
  });
  const watched = await watch(qemu.path);
  monitor = watched.monitor;
  const round = [
    "VM vm-1: waits, because the node's disk is full",
    "VM vm-1: continues, because the node's disk has space again",
  ];
  await expect.poll(() => continued, { timeout: 10_000 }).toBe(2);
  expect(watched.log).toEqual([...round, ...round]);
});
