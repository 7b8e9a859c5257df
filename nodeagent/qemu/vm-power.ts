// Starts and stops VMs, and watches the running VMs. Every step is on disk before the next step begins. So after a
// restart, the agent completes interrupted starts and stops, and reconnects to VMs that are `on`.
import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import { ignoreFullDisk, untilRoom } from "../full-disk.ts";
import { createOneAtATime } from "../one-at-a-time.ts";
import { severalAtATime } from "../several-at-a-time.ts";
import { endInterruptedCopies } from "./disk-copies.ts";
import { placesOf } from "./folders.ts";
import type { Host } from "./host.ts";
import { argvOn } from "./machine-type.ts";
import { pressPowerButton } from "./power-button.ts";
import { killProcesses, processesOf, waitForEnd } from "./processes.ts";
import { createRunFolder, lockRunFolder } from "./run-folder.ts";
import { endOfRun, VANISHED } from "./run-end.ts";
import { createSpaceWaiter } from "./disk-space.ts";
import { monitorVm, type RunEnd, type VmMonitor } from "./vm-monitor.ts";
import type { NodeNetwork } from "../network/node-network.ts";
import { confinementName } from "./launch-argv.ts";
import type { VmConsole } from "./vm-console.ts";
import { createNetwork } from "./vm-network.ts";
import type { VmRecord } from "./vm-record.ts";
import { createVmStarts, silentText, type VmStarts } from "./vm-starts.ts";
import type { VmStore } from "./vm-store.ts";

export type VmPower = VmStarts & {
  halt(id: string): Promise<void>;
  /** Ends QEMU without a shutdown of the guest, and records that the VM is off. */
  cut(id: string): Promise<void>;
  /** Runs work while no other work on this VM runs. */
  serialized<T>(id: string, work: () => Promise<T>): Promise<T>;
  /** Connects to a VM's QEMU. `cut`, `attach`, `launch`, `run` and `end` do not wait for other work on the VM. */
  attach(vm: VmRecord): Promise<VmMonitor>;
  /** Starts QEMU with its guest paused. `more` holds further arguments of its command line. */
  launch(vm: VmRecord, more: readonly string[]): Promise<VmMonitor>;
  /** Lets the guest of a waiting QEMU run. */
  run(vm: VmRecord, monitor: VmMonitor): Promise<void>;
  /** Ends QEMU and removes its sockets and taps. */
  end(vm: VmRecord): Promise<void>;
  /** Returns the connections to a VM's QEMU. Undefined if the agent is not connected to one. */
  monitor(id: string): VmMonitor | undefined;
  /** Returns the console of the last run, even after its end; undefined if the VM did not run under this agent. */
  console(id: string): VmConsole | undefined;
  /** Brings all VMs to their wanted state after a start of the agent. Starts and stops continue in the background. */
  recover(): Promise<void>;
};

/** Time that QEMU has to open its monitor, to end after `quit`, and to end after a signal. A busy node is slow. */
const START_LIMIT_MS = 30_000;
const QUIT_LIMIT_MS = 10_000;
const KILL_LIMIT_MS = 30_000;
/** Time that a new process has to become QEMU. Until then the agent cannot recognize the process. */
const EXEC_LIMIT_MS = 1_000;
/** Pause between attempts to connect to a QEMU that does not answer. */
const RETRY_MS = 5_000;
/** How many VMs start or stop at the same time after a start of the agent. */
const STARTS_AT_ONCE_MAX = 4;

export type PowerOptions = {
  readonly host: Host;
  readonly store: VmStore;
  readonly network: NodeNetwork;
  /** Returns a Failure if the node's memory cannot hold this VM beside the running ones; otherwise null. */
  readonly admit: (vm: VmRecord) => Failure | null;
};

export function createVmPower({ host, store, network, admit }: PowerOptions): VmPower {
  const monitors = new Map<string, VmMonitor>();
  const serialized = createOneAtATime();
  const consoles = new Map<string, VmConsole>();
  const waitForSpace = createSpaceWaiter(host, (id) => monitors.get(id));
  const places = (id: string) => placesOf(host.folders, id);
  const report = (id: string) => (error: Error) => host.log(`VM ${id}: ${error.message}`);
  // The next agent can connect only after this one has disconnected.
  host.signal.addEventListener("abort", () => [...monitors.keys()].forEach(detach), { once: true });

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
    consoles.set(vm.id, monitor.console);
    // QEMU has opened the taps, so they can move into the routers.
    await network.attach(confinementName(vm.id), vm.nics);
    // A frozen guest may answer late, so only the VM's next job waits, and not the caller.
    void serialized(vm.id, () => endInterruptedCopies(monitor.qmp, places(vm.id), host)).catch(report(vm.id));
    // `ended` resolves only once. So if the disk is full, the agent tries again to record the end of the run. Between
    // the attempts, other work on the VM can run and free space.
    const record = (end: RunEnd) => serialized(vm.id, () => conclude(vm.id, end, monitor));
    void monitor.ended.then((end) => untilRoom(() => record(end), { signal: host.signal, onFull: report(vm.id) }))
      .catch(report(vm.id));
    return monitor;
  }

  function detach(id: string): void {
    monitors.get(id)?.close();
    monitors.delete(id);
  }

  /** Ends QEMU through its monitor. If the monitor does not answer or QEMU does not end in time, sends a signal. */
  async function endProcess(vm: Pick<VmRecord, "id" | "uid">): Promise<void> {
    const quits = await monitors.get(vm.id)?.qmp.execute("quit", {}, QUIT_LIMIT_MS).then(() => true, () => false);
    detach(vm.id);
    if (!await waitForEnd(vm, quits ? QUIT_LIMIT_MS : 0)) await killProcesses(vm, KILL_LIMIT_MS);
    await host.supervisor.forget(vm.id);
    await network.detach(store.get(vm.id)?.nics ?? []);
    await rm(places(vm.id).run_folder, { recursive: true, force: true });
  }

  /** Records the end of a run that ended without a job. */
  async function conclude(id: string, end: RunEnd, monitor: VmMonitor): Promise<void> {
    const vm = store.get(id);
    // A removal, a halt or a later start already handled the end of this run, or the VM moves.
    if (vm === undefined || monitors.get(id) !== monitor || vm.move) return;
    if (vm.power === "off" || vm.power === "stopping") return;
    if (end === "gone" && !await waitForEnd(vm, QUIT_LIMIT_MS)) {
      // Only the connection ended; QEMU still runs.
      detach(id);
      return void attachLater(vm);
    }
    const ending = end === "gone" ? await host.supervisor.ending(id).catch(() => null) : null;
    const { state, reason } = endOfRun(end, ending);
    await store.change(id, { power: "off", end: { state, reason } });
    monitor.console.note(reason ?? "the guest turned itself off");
    host.log(`VM ${id}: ${state}${reason === null ? "" : `: ${reason}`}${ending === null ? "" : ` (${ending})`}`);
    await endProcess(vm);
  }

  async function launch(vm: VmRecord, more: readonly string[] = []): Promise<VmMonitor> {
    await createRunFolder(places(vm.id), vm.uid);
    // A tap that an ended QEMU left in a router would conflict with the new one.
    await network.detach(vm.nics);
    await createNetwork(vm);
    const argv = [...await argvOn(host, vm), ...more];
    await host.supervisor.start(vm, { vm_id: vm.id, uid: vm.uid, kvm_gid: host.kvm_gid }, argv);
    return await attach(vm);
  }

  async function run(vm: VmRecord, { qmp }: VmMonitor): Promise<void> {
    await lockRunFolder(places(vm.id));
    await qmp.execute("cont");
    await store.change(vm.id, { power: "on", end: null });
  }

  async function halt(id: string): Promise<void> {
    const vm = store.get(id);
    if (vm === undefined) return;
    if (vm.power !== "off") await store.change(id, { power: "stopping" });
    if (vm.power !== "off" && (await processesOf(vm)).length > 0) {
      const monitor = await attach(vm).catch(() => null);
      if (monitor !== null && !(monitor.found === "prelaunch" && vm.power === "starting")) {
        await pressPowerButton(monitor, { host, guest_agent: places(id).socket("qga") });
      }
    }
    await endProcess(vm);
    const { power, end } = existing(id);
    if (power === "off" && end?.state === "stopped") return;
    await store.change(id, { power: "off", end: { state: "stopped", reason: null } });
  }

  async function cut(id: string): Promise<void> {
    consoles.delete(id);
    const vm = store.get(id);
    if (vm !== undefined && vm.power !== "off") await store.change(id, { power: "off" }).catch(ignoreFullDisk);
    await endProcess(vm ?? { id, uid: NO_UID });
  }

  /** Retries to connect to a QEMU that runs but did not answer. Stops when it succeeds or the VM is no longer on. */
  async function attachLater(vm: VmRecord): Promise<void> {
    host.log(silentText(vm.id));
    while (!host.signal.aborted && store.get(vm.id)?.power === "on" && !monitors.has(vm.id)) {
      await sleep(RETRY_MS, undefined, { ref: false });
      await serialized(vm.id, () => follow(store.get(vm.id) ?? vm)).catch(() => {});
    }
  }

  /** Connects to a VM that runs according to its record. If the VM has no process, records the end of its run. */
  async function follow(vm: VmRecord): Promise<void> {
    if ((await processesOf(vm)).length > 0) await attach(vm);
    else if (store.get(vm.id)?.power === "on" && !vm.move) {
      const ending = await host.supervisor.ending(vm.id).catch(() => null);
      await store.change(vm.id, { power: "off", end: ending === null ? VANISHED : endOfRun("gone", ending) });
      host.log(`VM ${vm.id}: ${VANISHED.reason}`);
      await endProcess(vm);
    }
  }

  async function recover(): Promise<void> {
    const waiting: (() => Promise<void>)[] = [];
    for (const vm of store.all()) {
      const later = await recoverOne(vm).catch(report(vm.id));
      if (later !== undefined) waiting.push(() => later().catch(report(vm.id)));
    }
    void severalAtATime(STARTS_AT_ONCE_MAX, waiting, (next) => next());
  }

  /** Recovers one VM. Returns the work that takes long, for the caller to run, or undefined. */
  async function recoverOne(vm: VmRecord): Promise<(() => Promise<void>) | undefined> {
    const has_process = (await processesOf(vm)).length > 0;
    // The control plane decides on which node a moving VM runs. This QEMU may hold the only copy of the VM's memory.
    if (vm.move) return void (has_process && await serialized(vm.id, () => attach(vm)).catch(() => {}));
    switch (vm.power) {
      case "off":
        if (has_process) await serialized(vm.id, () => endProcess(vm));
        return undefined;
      case "stopping":
        return () => serialized(vm.id, () => halt(vm.id));
      case "starting":
        return () => starts.finishStart(vm.id);
      case "on":
        // The node has booted since the VM was started, so the VM has no process and starts again.
        if (!has_process && vm.boot_id !== host.boot_id) {
          await store.change(vm.id, { power: "starting" });
          return () => starts.finishStart(vm.id);
        }
        await serialized(vm.id, () => follow(vm)).catch(() => void attachLater(vm));
        return undefined;
    }
  }

  const starts = createVmStarts({ host, store, admit, serialized, attach, launch, run, endProcess });

  return {
    ...starts,
    halt: (id) => serialized(id, () => halt(id)),
    cut,
    serialized,
    attach,
    launch,
    end: endProcess,
    run,
    monitor: (id) => monitors.get(id),
    console: (id) => consoles.get(id),
    recover,
  };
}

/** A user id that no process has. */
const NO_UID = -1;
