// Starts and stops VMs, and follows those that run. Every step is on disk before the next one begins, so a restarted
// agent continues where the last one ended: `starting` and `stopping` are finished, `on` is found again.
import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import { DetailedFailure } from "../detailed-failure.ts";
import { placesOf } from "./folders.ts";
import type { Host } from "./host.ts";
import { qemuArgv } from "./qemu-argv.ts";
import { killProcesses, processesOf, waitForEnd } from "./processes.ts";
import { createRunFolder, lockRunFolder } from "./run-folder.ts";
import { endOfRun, VANISHED } from "./run-end.ts";
import { createSpaceWaiter } from "./disk-space.ts";
import { monitorVm, type RunEnd, type VmMonitor } from "./vm-monitor.ts";
import { createNetwork } from "./vm-network.ts";
import type { End, VmRecord } from "./vm-record.ts";
import type { VmStore } from "./vm-store.ts";

export type VmPower = {
  boot(id: string): Promise<void>;
  halt(id: string): Promise<void>;
  /** Ends QEMU at once. The record says that it is off. */
  cut(id: string): Promise<void>;
  /** Runs work while no other work on this VM runs. */
  serialized<T>(id: string, work: () => Promise<T>): Promise<T>;
  /** Returns the connections to a running VM. */
  monitor(id: string): VmMonitor | undefined;
  /** Brings all VMs to their wanted state after a start of the agent. Starts of VMs continue in the background. */
  recover(): Promise<void>;
};

/** Time that QEMU has to open its monitor, and to end after `quit`. A busy node is slow. */
const START_LIMIT_MS = 30_000;
const QUIT_LIMIT_MS = 10_000;
const KILL_LIMIT_MS = 30_000;
/** Time that a new process has to become QEMU. Until then it cannot be recognized. */
const EXEC_LIMIT_MS = 1_000;
/** A guest that boots misses the power button, so it is pressed again. */
const POWER_BUTTON_MS = 5_000;
/** Pause between tries to reach a QEMU that does not answer. */
const RETRY_MS = 5_000;
/** VMs that start at the same time after a boot of the node. */
const STARTS_AT_ONCE_MAX = 4;

export type PowerOptions = {
  readonly host: Host;
  readonly store: VmStore;
  /** Throws a Failure if the node's memory cannot hold this VM beside the running ones. */
  readonly admit: (vm: VmRecord) => void;
};

export function createVmPower({ host, store, admit }: PowerOptions): VmPower {
  const monitors = new Map<string, VmMonitor>();
  const last = new Map<string, Promise<unknown>>();
  const waitForSpace = createSpaceWaiter(host, (id) => monitors.get(id)?.qmp);
  const places = (id: string) => placesOf(host.folders, id);
  // The next agent can connect only when this one has left.
  host.signal.addEventListener("abort", () => {
    for (const id of [...monitors.keys()]) detach(id);
  }, { once: true });

  function serialized<T>(id: string, work: () => Promise<T>): Promise<T> {
    const done = (last.get(id) ?? Promise.resolve()).catch(() => {}).then(work);
    last.set(id, done);
    done.catch(() => {}).finally(() => last.get(id) === done && last.delete(id));
    return done;
  }

  function existing(id: string): VmRecord {
    const vm = store.get(id);
    if (vm === undefined) throw new Failure(`VM ${id} does not exist`, EXIT.not_found);
    return vm;
  }

  /** Connects to a VM's QEMU and follows it until it ends. */
  async function attach(vm: VmRecord): Promise<VmMonitor> {
    const known = monitors.get(vm.id);
    if (known !== undefined) return known;
    const begun_ms = performance.now();
    const monitor = await monitorVm(places(vm.id), {
      limit_ms: START_LIMIT_MS,
      isGone: async () => performance.now() - begun_ms > EXEC_LIMIT_MS && (await processesOf(vm)).length === 0,
      onNoSpace: () => waitForSpace(vm.id),
    });
    monitors.set(vm.id, monitor);
    void monitor.ended.then((end) => serialized(vm.id, () => conclude(vm.id, end, monitor)))
      .catch((error) => host.log(`VM ${vm.id}: ${error.message}`));
    return monitor;
  }

  function detach(id: string): void {
    monitors.get(id)?.close();
    monitors.delete(id);
  }

  /** Ends QEMU: by its monitor if it answers, otherwise by a signal. */
  async function endProcess(vm: Pick<VmRecord, "id" | "uid">): Promise<void> {
    const quits = await monitors.get(vm.id)?.qmp.execute("quit", {}, QUIT_LIMIT_MS).then(() => true, () => false);
    detach(vm.id);
    if (!await waitForEnd(vm, quits ? QUIT_LIMIT_MS : 0)) await killProcesses(vm, KILL_LIMIT_MS);
    await host.supervisor.forget(vm.id);
    await rm(places(vm.id).run_folder, { recursive: true, force: true });
  }

  /** Records the end of a run that no job asked for. */
  async function conclude(id: string, end: RunEnd, monitor: VmMonitor): Promise<void> {
    const vm = store.get(id);
    // A halt, or a later start, already handled the end of this run.
    if (vm === undefined || monitors.get(id) !== monitor || vm.power === "off" || vm.power === "stopping") return;
    if (end === "gone" && !await waitForEnd(vm, QUIT_LIMIT_MS)) {
      // Only the connection ended.
      detach(id);
      return void attachLater(vm);
    }
    const ending = end === "gone" ? await host.supervisor.ending(id).catch(() => null) : null;
    const { state, reason } = endOfRun(end, ending);
    await store.change(id, { power: "off", end: { state, reason } });
    host.log(`VM ${id}: ${state}${reason === null ? "" : `: ${reason}`}${ending === null ? "" : ` (${ending})`}`);
    await endProcess(vm);
  }

  async function boot(id: string): Promise<void> {
    const vm = existing(id);
    if ((await processesOf(vm)).length > 0 && await adopt(vm)) return;
    admit(vm);
    await store.change(id, { power: "starting", boot_id: host.boot_id });
    try {
      await start(vm);
    } catch (error) {
      const ending = await host.supervisor.ending(id).catch(() => null);
      await store.change(id, { power: "off", end: { state: "failed", reason: NOT_STARTED } });
      await endProcess(vm);
      const detail = [(error as Error).message, ending].filter((each) => each !== null).join("; ");
      host.log(`VM ${id}: ${NOT_STARTED}: ${detail}`);
      throw new DetailedFailure(NOT_STARTED, detail);
    }
  }

  /** Continues a QEMU that a boot before this one started. Returns false if its run is over. */
  async function adopt(vm: VmRecord): Promise<boolean> {
    const monitor = await attach(vm).catch(() => null);
    const { status } = await monitor?.qmp.execute("query-status").catch(() => null) ?? { status: null };
    switch (status) {
      case "prelaunch":
        await run(vm, monitor!);
        return true;
      case "running":
      case "paused":
      case "io-error":
        await store.change(vm.id, { power: "on", end: null });
        return true;
      default:
        await store.change(vm.id, { power: "off" });
        await endProcess(vm);
        return false;
    }
  }

  async function start(vm: VmRecord): Promise<void> {
    const { program, accelerator, uefi, kvm_gid } = host;
    await createRunFolder(places(vm.id), vm.uid);
    await createNetwork(vm);
    const argv = qemuArgv(vm, { program, accelerator, uefi, places: places(vm.id) });
    await host.supervisor.start(vm, { vm_id: vm.id, uid: vm.uid, kvm_gid }, argv);
    await run(vm, await attach(vm));
  }

  /** Lets the guest of a prepared QEMU run. */
  async function run(vm: VmRecord, { qmp }: VmMonitor): Promise<void> {
    await lockRunFolder(places(vm.id));
    await qmp.execute("cont");
    await store.change(vm.id, { power: "on", end: null });
  }

  async function halt(id: string): Promise<void> {
    const vm = store.get(id);
    if (vm === undefined) return;
    if (vm.power !== "off") await store.change(id, { power: "stopping" });
    if (vm.power !== "off" && (await processesOf(vm)).length > 0) await pressPowerButton(vm);
    await endProcess(vm);
    await turnedOff(id, { state: "stopped", reason: null });
  }

  async function turnedOff(id: string, end: End): Promise<void> {
    const { power, end: before } = existing(id);
    if (power !== "off" || before?.state !== end.state) await store.change(id, { power: "off", end });
  }

  /** Waits until the guest is off, or the limit has passed. Throws if the agent stops. */
  async function pressPowerButton(vm: VmRecord): Promise<void> {
    const monitor = await attach(vm).catch(() => null);
    if (monitor === null || monitor.found === "prelaunch" && vm.power === "starting") return;
    let is_over = false;
    void monitor.ended.then(() => is_over = true);
    const end_ms = performance.now() + host.halt_wait_ms;
    while (!is_over && performance.now() < end_ms) {
      await monitor.qmp.execute("system_powerdown").catch(() => {});
      const pause_ms = Math.max(0, Math.min(POWER_BUTTON_MS, end_ms - performance.now()));
      await Promise.race([monitor.ended, sleep(pause_ms, undefined, { signal: host.signal })]);
    }
  }

  async function cut(id: string): Promise<void> {
    const vm = store.get(id);
    if (vm !== undefined && vm.power !== "off") await store.change(id, { power: "off" });
    await endProcess(vm ?? { id, uid: NO_UID });
  }

  /** Reaches a QEMU that runs but did not answer. */
  async function attachLater(vm: VmRecord): Promise<void> {
    host.log(`VM ${vm.id}: its QEMU does not answer; retrying`);
    while (!host.signal.aborted && store.get(vm.id)?.power === "on" && !monitors.has(vm.id)) {
      await sleep(RETRY_MS, undefined, { ref: false });
      await serialized(vm.id, () => follow(store.get(vm.id) ?? vm)).catch(() => {});
    }
  }

  /** Connects to a VM that shall run; if it has no process, records that. */
  async function follow(vm: VmRecord): Promise<void> {
    if ((await processesOf(vm)).length > 0) await attach(vm);
    else if (store.get(vm.id)?.power === "on") {
      const ending = await host.supervisor.ending(vm.id).catch(() => null);
      await store.change(vm.id, { power: "off", end: ending === null ? VANISHED : endOfRun("gone", ending) });
      host.log(`VM ${vm.id}: ${VANISHED.reason}`);
      await endProcess(vm);
    }
  }

  async function recover(): Promise<void> {
    const waiting: (() => Promise<void>)[] = [];
    for (const vm of store.all()) {
      const later = await recoverOne(vm).catch((error) => host.log(`VM ${vm.id}: ${error.message}`));
      if (later !== undefined) waiting.push(later);
    }
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next().catch(() => {});
    };
    void Promise.all(Array.from({ length: STARTS_AT_ONCE_MAX }, work));
  }

  /** Returns work that takes long, or undefined. */
  async function recoverOne(vm: VmRecord): Promise<(() => Promise<void>) | undefined> {
    const has_process = (await processesOf(vm)).length > 0;
    switch (vm.power) {
      case "off":
        if (has_process) await serialized(vm.id, () => endProcess(vm));
        return undefined;
      case "stopping":
        return () => serialized(vm.id, () => halt(vm.id));
      case "starting":
        return () => serialized(vm.id, () => boot(vm.id));
      case "on":
        // A boot of the node ended every process: the VM starts again.
        if (!has_process && vm.boot_id !== host.boot_id) {
          await store.change(vm.id, { power: "starting" });
          return () => serialized(vm.id, () => boot(vm.id));
        }
        await serialized(vm.id, () => follow(vm)).catch(() => void attachLater(vm));
        return undefined;
    }
  }

  return {
    boot: (id) => serialized(id, () => boot(id)),
    halt: (id) => serialized(id, () => halt(id)),
    cut,
    serialized,
    monitor: (id) => monitors.get(id),
    recover,
  };
}

const NOT_STARTED = "the virtual machine could not be started on its node";
/** No process has this user. */
const NO_UID = -1;
