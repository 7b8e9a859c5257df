// Boots VMs, also a VM whose QEMU an earlier agent started. Slow storage can keep QEMU from answering while its guest
// runs. So a start does not end a QEMU that does not answer, unless the VM must be off: it waits until this QEMU
// answers or ends.
import { setTimeout as sleep } from "node:timers/promises";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import { DetailedFailure } from "../detailed-failure.ts";
import type { OneAtATime } from "../one-at-a-time.ts";
import type { Host } from "./host.ts";
import { processesOf, waitForEnd } from "./processes.ts";
import { isAnswered } from "./qmp.ts";
import type { VmMonitor } from "./vm-monitor.ts";
import type { VmRecord } from "./vm-record.ts";
import type { VmStore } from "./vm-store.ts";

export type VmStarts = {
  /** Boots the VM. While its QEMU runs but does not answer, waits for an answer or its end, until `signal` aborts. */
  boot(id: string, signal: AbortSignal): Promise<void>;
  /** Boots a VM whose record is `starting`. Returns after the first attempt, and waits in the background. */
  finishStart(id: string): Promise<void>;
};

/** Pause between two attempts to boot a VM whose QEMU does not answer. */
const RETRY_MS = 5_000;
/** Time that QEMU has to end after its monitor has closed. */
const END_LIMIT_MS = 10_000;

type StartOptions = {
  readonly host: Pick<Host, "boot_id" | "log" | "signal" | "supervisor">;
  readonly store: Pick<VmStore, "get" | "change">;
  readonly serialized: OneAtATime;
  /** Returns a Failure if the node's memory cannot hold this VM beside the running ones; otherwise null. */
  readonly admit: (vm: VmRecord) => Failure | null;
  readonly attach: (vm: VmRecord) => Promise<VmMonitor>;
  readonly launch: (vm: VmRecord) => Promise<VmMonitor>;
  readonly run: (vm: VmRecord, monitor: VmMonitor) => Promise<void>;
  readonly endProcess: (vm: VmRecord) => Promise<void>;
};

export function createVmStarts(options: StartOptions): VmStarts {
  const { host, store, serialized, admit, attach, launch, run, endProcess } = options;

  /** Boots the VM. Returns false if its QEMU runs but does not answer: the guest may run, so this QEMU is not ended. */
  async function boot(id: string): Promise<boolean> {
    const vm = store.get(id);
    if (vm === undefined) throw new Failure(`VM ${id} does not exist`, EXIT.not_found);
    if (vm.move) throw new Failure(`VM ${id} is moving to another node`, EXIT.conflict);
    const found = (await processesOf(vm)).length > 0 ? await adopt(vm) : "over";
    if (found !== "over") return found === "on";
    const full = admit(vm);
    if (full !== null) {
      // A VM that ran before a boot of the node must not stay in `starting`.
      if (vm.power !== "off") await store.change(id, { power: "off", end: { state: "failed", reason: full.message } });
      throw full;
    }
    await store.change(id, { power: "starting", boot_id: host.boot_id });
    try {
      const monitor = await launch(vm);
      const is_answered = await isAnswered(run(vm, monitor));
      if (!is_answered && await waitForEnd(vm, END_LIMIT_MS)) throw new Error("QEMU ended before its guest ran");
      return is_answered;
    } catch (error) {
      const ending = await host.supervisor.ending(id).catch(() => null);
      await store.change(id, { power: "off", end: { state: "failed", reason: NOT_STARTED } });
      await endProcess(vm);
      const detail = [(error as Error).message, ending].filter((each) => each !== null).join("; ");
      host.log(`VM ${id}: ${NOT_STARTED}: ${detail}`);
      throw new DetailedFailure(NOT_STARTED, detail);
    }
  }

  /**
   * Runs the guest of an existing QEMU. Ends QEMU if its run is over, or if it does not answer and the VM must be off.
   */
  async function adopt(vm: VmRecord): Promise<"on" | "over" | "silent"> {
    const monitor = await attach(vm).catch(() => null);
    const status = await monitor?.qmp.execute("query-status").then(({ status }) => status, () => null) ?? null;
    if (status === null && vm.power !== "off" && (await processesOf(vm)).length > 0) return "silent";
    switch (status) {
      case "prelaunch":
        return await isAnswered(run(vm, monitor!)) ? "on" : "silent";
      case "paused":
        // A VM that arrived by migration is paused until this agent runs it for the first time.
        if (vm.power === "starting" && !await isAnswered(monitor!.qmp.execute("cont"))) return "silent";
        await store.change(vm.id, { power: "on", end: null });
        return "on";
      case "running":
      case "io-error":
        await store.change(vm.id, { power: "on", end: null });
        return "on";
      default:
        await store.change(vm.id, { power: "off" });
        await endProcess(vm);
        return "over";
    }
  }

  async function bootAnswering(id: string, signal: AbortSignal): Promise<void> {
    const attempt = () => boot(id);
    if (!await serialized(id, attempt)) await repeat(id, attempt, signal);
  }

  async function finishStart(id: string): Promise<void> {
    const attempt = async () => store.get(id)?.power !== "starting" || await boot(id);
    if (await serialized(id, attempt)) return;
    void repeat(id, attempt, host.signal).catch((error) => {
      if (!host.signal.aborted) host.log(`VM ${id}: ${(error as Error).message}`);
    });
  }

  /** Repeats an attempt to boot the VM until it returns true. Other work on the VM can run between the attempts. */
  async function repeat(id: string, attempt: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
    host.log(silentText(id));
    do await sleep(RETRY_MS, undefined, { signal, ref: false }); while (!await serialized(id, attempt));
  }

  return { boot: bootAnswering, finishStart };
}

export const silentText = (id: string) => `VM ${id}: its QEMU does not answer; retrying`;
const NOT_STARTED = "the virtual machine could not be started on its node";
