// Tests how an agent reads the metrics of its VMs, and when it sends them.
import { expect, test } from "vitest";
import { diskUse, networkUse, processUse } from "../../nodeagent/qemu/vm-metrics.ts";
import { simulatedMetrics } from "../../nodeagent/simulated-metrics.ts";
import type { SimulatedVm } from "../../nodeagent/simulated-vms.ts";
import { createSampler, type Sample } from "../../nodeagent/sampler.ts";

test("the processor time and memory are read from a process's stat, even if its name contains brackets", () => {
  const fields = Array.from({ length: 50 }, (_, index) => String(index + 3));
  fields[14 - 3] = "250"; // The ticks in user mode. The next field has the ticks in the kernel.
  fields[15 - 3] = "50";
  fields[24 - 3] = "1000"; // The memory in pages.
  const stat = `4711 (qemu ) (S) 9) ${fields.join(" ")}\n`;
  expect(processUse(stat)).toEqual({ cpu_seconds: 3, memory_bytes: 4_096_000 });
});

test("the metrics count the guest's disks, but neither QEMU's file nodes below the disks nor the seed volume", () => {
  const block = (name: string | undefined, rd_bytes: number, wr_bytes: number) => ({
    ...name !== undefined && { "node-name": name },
    stats: { rd_bytes, wr_bytes },
  });
  const blocks = [block("disk0", 10, 20), block("disk0-file", 99, 99), block("seed", 99, 0), block("disk11", 1, 2)];
  expect(diskUse([...blocks, block(undefined, 99, 99)])).toEqual({ disk_read_bytes: 11, disk_written_bytes: 22 });
});

test("the metrics count the bytes of the taps from the guest's side, and ignore other network devices", () => {
  const devices = `Inter-|   Receive                            |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:   55       1    0    0    0     0          0         0       55       1    0    0    0     0       0          0
t020000abcd01: 1000   8    0    0    0     0          0         0     2000       9    0    0    0     0       0          0
t020000abcd02:  1   1    0    0    0     0          0         0     2       1    0    0    0     0       0          0
`;
  const nics = ["02:00:00:ab:cd:01", "02:00:00:ab:cd:02"].map((mac) => ({ mac }));
  expect(networkUse(nics, devices, new Map())).toEqual({ network_sent_bytes: 1_001, network_received_bytes: 2_002 });
});

test("a VM has no sample while one of its taps cannot be read", () => {
  const nics = ["02:00:00:AB:CD:01", "02:00:00:ab:cd:02"].map((mac) => ({ mac }));
  const tap = (mac: string) => [mac, { received: 5_000, sent: 7_000 }] as const;
  const both = new Map([tap("02:00:00:ab:cd:01"), tap("02:00:00:ab:cd:02")]);
  expect(networkUse(nics, "", both)).toEqual({ network_sent_bytes: 10_000, network_received_bytes: 14_000 });
  expect(networkUse(nics, "", new Map([tap("02:00:00:ab:cd:01")]))).toBeNull();
  expect(networkUse([], "", new Map())).toEqual({ network_sent_bytes: 0, network_received_bytes: 0 });
});

test("a sample is taken once in each period, and its report is repeated until the server has the sample", async () => {
  let now_ms = 0;
  let taken = 0;
  const metrics = (): Promise<Sample> => Promise.resolve({ vm: { ...NOTHING, cpu_seconds: ++taken } });
  const sampler = createSampler({ metrics }, { period_ms: 1_000, monotonicMs: () => now_ms });
  const unsent = async () => (await sampler.unsent())?.vm?.cpu_seconds ?? null;
  expect([await unsent(), await unsent()]).toEqual([1, 1]);
  sampler.sent(await sampler.unsent());
  now_ms = 999;
  expect(await unsent()).toBeNull();
  now_ms = 1_000;
  expect(await unsent()).toBe(2);
  now_ms = 2_000;
  const second = await sampler.unsent();
  now_ms = 3_000;
  expect(await unsent()).toBe(4);
  sampler.sent(second);
  expect(await unsent(), "an older sample was sent").toBe(4);
});

test("a machine that cannot be read, or has no running VM, has no sample", async () => {
  const options = { period_ms: 1, monotonicMs: () => 0 };
  expect(await createSampler({ metrics: () => Promise.resolve({}) }, options).unsent()).toBeNull();
  const broken = createSampler({ metrics: () => Promise.reject(new Error("no /proc")) }, options);
  expect(await broken.unsent()).toBeNull();
});

const NOTHING = {
  cpu_seconds: 0,
  memory_bytes: 0,
  disk_read_bytes: 0,
  disk_written_bytes: 0,
  network_received_bytes: 0,
  network_sent_bytes: 0,
};

test("the values of a simulated VM are marked as simulated, and a stopped VM has no values", () => {
  const vm = { uuid: "a", state: "running", cpu: 2, memory_bytes: 2 ** 30, last_modified: "2026-01-01T00:00:00Z" };
  const stopped = { ...vm, uuid: "b", state: "stopped" };
  const now_ms = Date.parse("2026-01-01T00:01:40Z");
  // The values depend on these fields only.
  expect(simulatedMetrics([vm, stopped] as unknown as SimulatedVm[], now_ms)).toEqual({
    a: { ...NOTHING, cpu_seconds: 2, memory_bytes: 2 ** 30, simulated: true },
  });
});
