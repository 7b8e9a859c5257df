// Tests the parts of the QEMU driver that read the machine, decide about memory, and call systemd.
import { describe, expect, test } from "vitest";
import { memoryOf, processorsOf, ticksOf, utilization } from "../../nodeagent/qemu/hardware.ts";
import { hasVirtualization } from "../../nodeagent/qemu/host.ts";
import {
  admitMemory,
  limitedSupervisor,
  memoryBudget,
  memoryInUse,
  sliceLimit,
} from "../../nodeagent/qemu/memory-budget.ts";
import { endOfRun } from "../../nodeagent/qemu/run-end.ts";
import { systemdSupervisor, unitEnding } from "../../nodeagent/qemu/supervisor.ts";
import { sandboxArgv } from "../../nodeagent/qemu/unprivileged.ts";
import type { VmRecord } from "../../nodeagent/qemu/vm-record.ts";

const GIB = 2 ** 30;
const BOOT = "the present boot";
const vm = (id: string, change: Partial<VmRecord> = {}) =>
  ({ id, cpu: 2, memory_bytes: 4 * GIB, power: "on", boot_id: BOOT, ...change }) as VmRecord;

describe("processors", () => {
  const thread = (processor: number, socket: number, core: number) =>
    `processor\t: ${processor}\nphysical id\t: ${socket}\ncore id\t\t: ${core}\nflags\t\t: fpu vmx sse`;

  test("two threads of a core are one core, and cores with equal numbers in two sockets are two cores", () => {
    const cpuinfo = [thread(0, 0, 0), thread(1, 0, 0), thread(2, 1, 0), thread(3, 1, 0)].join("\n\n");
    expect(processorsOf(`${cpuinfo}\n`)).toEqual({ cores: 2, threads: 4 });
  });

  test("each thread counts as a core if Linux shows no cores", () => {
    expect(processorsOf("processor\t: 0\nBogoMIPS\t: 50\n\nprocessor\t: 1\nBogoMIPS\t: 50\n")).toEqual({
      cores: 2,
      threads: 2,
    });
  });

  test.each([["fpu vmx sse", true], ["fpu svm", true], ["fpu vmxoff", false], ["fpu", false]])(
    "the flags %j show virtualization: %s",
    (flags, shown) => {
      expect(hasVirtualization(`processor\t: 0\nflags\t\t: ${flags}\n`)).toBe(shown);
    },
  );

  test("the utilization is the busy fraction between two readings", () => {
    const before = ticksOf("cpu  100 0 100 700 100 0 0 0 50 0\ncpu0 1 1 1 1\n");
    const after = ticksOf("cpu  200 0 200 800 100 0 0 0 50 0\n");
    expect(before).toEqual({ busy: 200, all: 1_000 });
    expect(utilization(before, after)).toBeCloseTo(2 / 3);
    expect(utilization(after, after)).toBe(0);
  });
});

describe("memory", () => {
  test("is read in bytes", () => {
    expect(memoryOf("MemTotal:       16384 kB\nMemFree: 1 kB\n", "MemTotal")).toBe(16 * 2 ** 20);
    expect(memoryOf("", "MemTotal")).toBe(0);
  });

  test("VMs may use a fraction of the physical memory if the reservoir is enabled, and otherwise all memory", () => {
    expect(memoryBudget(10 * GIB, { enabled: true, percent: 0.5 })).toBe(5 * GIB);
    expect(memoryBudget(10 * GIB, { enabled: false, percent: 0.5 })).toBe(10 * GIB);
  });

  test("VMs that are off use no memory, and all other VMs do", () => {
    const all = [vm("a"), vm("b", { power: "off" }), vm("c", { power: "starting" }), vm("d", { power: "stopping" })];
    expect(memoryInUse(all)).toBe(12 * GIB);
  });

  const admit = (vm: VmRecord, others: readonly VmRecord[], budget_bytes: number) =>
    admitMemory(vm, { all: [vm, ...others], budget_bytes, boot_id: BOOT })?.message ?? null;
  const IN_USE = "the node's memory for virtual machines is in use; retry, or stop another one";

  test("a VM may use the memory up to the last byte, and a VM that starts again does not count twice", () => {
    const [on, off] = [vm("a"), vm("b", { power: "off" })];
    expect(admit(off, [on], 8 * GIB)).toBeNull();
    expect(admit(off, [on], 8 * GIB - 1)).toBe(IN_USE);
    expect(admit(on, [off], 4 * GIB)).toBeNull();
  });

  test("a VM that waits for its start after a boot of the node uses no memory, and a VM that has begun to start does", () => {
    const waiting = { power: "starting", boot_id: "the previous boot" } as const;
    expect(admit(vm("a", waiting), [vm("b", waiting)], 4 * GIB)).toBeNull();
    expect(admit(vm("a", waiting), [vm("b", { power: "starting" })], 4 * GIB)).toBe(IN_USE);
    expect(admit(vm("a", waiting), [vm("b", { power: "stopping" })], 4 * GIB)).toBe(IN_USE);
  });
});

describe("systemd", () => {
  function fake(answers: Readonly<Record<string, string>> = {}) {
    const calls: (readonly string[])[] = [];
    const supervisor = systemdSupervisor((argv) => {
      calls.push(argv);
      return Promise.resolve(answers[argv[1]!] ?? "");
    });
    return { calls, supervisor };
  }
  const confinement = { vm_id: "id1", uid: 200_000, kvm_gid: null };

  test("starts a unit with limits, after a reset of a failed unit with the same name", async () => {
    const { calls, supervisor } = fake();
    await supervisor.start(vm("id1"), confinement, ["qemu", "-S"]);
    expect(calls[0]).toEqual(["systemctl", "reset-failed", "berth-vm-id1.service"]);
    expect(calls[1]!.slice(0, 4)).toEqual(["systemd-run", "--quiet", "--unit=berth-vm-id1", "--slice=berth.slice"]);
    expect(calls[1]).toEqual(expect.arrayContaining([`MemoryMax=${4 * GIB + 512 * 2 ** 20}`, "CPUQuota=200%"]));
    expect(calls[1]!.slice(-2)).toEqual(["qemu", "-S"]);
  });

  test("limits the slice of all VMs to the reservoir", async () => {
    const { calls, supervisor } = fake();
    await supervisor.limitMemory(5 * GIB);
    await supervisor.limitMemory(null);
    expect(calls.map((argv) => argv.slice(2))).toEqual([
      ["--runtime", "berth.slice", `MemoryMax=${5 * GIB}`],
      ["--runtime", "berth.slice", "MemoryMax=infinity"],
    ]);
  });

  test("the limit is never below the memory that the running VMs may use, and rises before another VM starts", async () => {
    const { calls, supervisor } = fake();
    const all = [vm("a"), vm("b"), vm("c", { power: "off" })];
    const limited = limitedSupervisor(supervisor, () => sliceLimit(all, 2 * GIB));
    const limits = () => calls.map((argv) => argv.find((word) => /^MemoryMax=/.test(word))).filter(Boolean);
    await limited.applyLimit();
    expect(limits()).toEqual([`MemoryMax=${9 * GIB}`]);
    all[2] = vm("c", { power: "starting" });
    await limited.start(all[2], confinement, ["qemu"]);
    expect(calls[1]).toContain(`MemoryMax=${13.5 * GIB}`);
    expect(calls.at(-1)![0]).toBe("systemd-run");
    expect(sliceLimit(all, 100 * GIB)).toBe(101.5 * GIB);
    const arriving = { role: "arriving", migration_id: "m", ticket_sha256: "t" } as const;
    expect(sliceLimit([vm("d", { power: "off", move: arriving })], 2 * GIB)).toBe(4.5 * GIB);
  });

  test("reads how a unit's process ended", async () => {
    const { supervisor } = fake({ show: "Result=signal\nExecMainCode=2\nExecMainStatus=11\n" });
    expect(await supervisor.ending("id1")).toBe("signal 11");
    expect(unitEnding("Result=exit-code\nExecMainCode=1\nExecMainStatus=1\n")).toBe("status 1");
    expect(unitEnding("Result=oom-kill\nExecMainCode=2\nExecMainStatus=9\n")).toBe("out of memory");
    expect(unitEnding("Result=success\nExecMainCode=0\nExecMainStatus=0\n")).toBeNull();
  });
});

describe("the state and reason that the tenant sees", () => {
  test.each<[Parameters<typeof endOfRun>[0], string | null, string, string | null]>([
    ["off", null, "stopped", null],
    ["panicked", null, "failed", "the guest's kernel panicked; see the console's last output"],
    [
      "broken",
      null,
      "failed",
      "the virtual processor stopped: the guest used an operation that the processor does not support",
    ],
    ["gone", null, "failed", "the virtual machine's process ended unexpectedly"],
    ["gone", "signal 11", "failed", "the virtual machine's process crashed on its node (signal 11)"],
    [
      "gone",
      "signal SIGSEGV: /usr/lib/x",
      "failed",
      "the virtual machine's process crashed on its node (signal SIGSEGV)",
    ],
    ["gone", "out of memory", "failed", "the virtual machine's process ran out of memory on its node"],
    ["gone", "status 1: could not open /secret", "failed", "the virtual machine's process ended unexpectedly"],
  ])("after the end %s (%s) are: state %s, reason %s", (end, ending, state, reason) => {
    const found = endOfRun(end, ending);
    expect([found.state, found.reason]).toEqual([state, reason]);
  });
});

test("a program that reads an untrusted file has limits, and has no network and no privileges", () => {
  expect(sandboxArgv(["qemu-img", "info", "source"], { file_bytes_max: 1_000, processor_s_max: 20 })).toMatchSnapshot();
});
