// Sends a VM to another node. With KVM, the guest runs until its disks and almost all of its memory are on the target.
// An emulated guest is paused before its memory is sent. If the migration fails before the target has the whole VM, the
// guest continues here. Once the target has the whole VM, the guest stays paused here until the control plane removes
// the VM from this node or cancels the migration. Of a stopped VM, only files are sent.
import { setTimeout as sleep } from "node:timers/promises";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import type { Migrations, MoveLink, Moving, SendOptions } from "../migration/migrations.ts";
import { isAttachedData, type OpenDisk, openDisks, scsiIds } from "./block-nodes.ts";
import { placesOf } from "./folders.ts";
import { whileAnswers } from "../migration/while-answers.ts";
import { machineTypeOf } from "./machine-type.ts";
import { untilMigrated, untilStatus } from "./migration-status.ts";
import { offerUnix } from "./move-sockets.ts";
import { sendFile, sizeOf, UEFI_VARIABLES } from "./move-files.ts";
import { processesOf } from "./processes.ts";
import type { Qmp } from "./qmp.ts";
import type { Moves } from "./vm-arrival.ts";
import { type Copied, dropMirrors, endMirrors, mirrorDisks } from "./vm-mirrors.ts";
import type { VmMonitor } from "./vm-monitor.ts";
import { bootImageOf, type VmRecord } from "./vm-record.ts";

type Copying = {
  readonly link: MoveLink;
  readonly options: SendOptions;
  readonly onSent: (bytes: number) => void;
};

type Departures = Pick<Migrations, "send" | "resume" | "clean">;

/** Longest planned pause of the guest. QEMU pauses the guest when it can send the rest in this time. */
const DOWNTIME_LIMIT_MS = 300;
/** Time limit for the memory. The migration fails if the guest changes memory faster than the source can send it. */
const MEMORY_LIMIT_MS = 3_600_000;
/** Time that the control plane has to answer while the guest is paused. Afterwards the guest continues on this node. */
const ANSWER_LIMIT_MS = 3_000;
/**
 * FINISH_LIMIT_MS is the time limit for the target to verify the files, or to receive the rest of the memory. CHECK_MS
 * is the pause between two checks whether QEMU has cancelled a migration.
 */
const FINISH_LIMIT_MS = 600_000;
const CHECK_MS = 50;
const GUEST_ENDED = "the guest turned itself off or failed while it moved";
const CAPABILITIES = ["events", "pause-before-switchover", "auto-converge"] as const;
const PERCENT = 100;

export function qemuDepartures({ host, store, power, vms }: Moves): Departures {
  const places = (id: string) => placesOf(host.folders, id);

  function leaving({ instance_id, migration_id }: Moving): VmRecord {
    const vm = store.get(instance_id);
    if (vm === undefined || vm.move?.role === "arriving") {
      throw new Failure(`VM ${instance_id} does not exist`, EXIT.not_found);
    }
    if (vm.move && vm.move.migration_id !== migration_id) {
      throw new Failure(`VM ${instance_id} is in another migration`, EXIT.conflict);
    }
    return vm;
  }

  async function send(moving: Moving, link: MoveLink, options: SendOptions): Promise<unknown> {
    const vm = leaving(moving);
    if (vm.move) return { sent_bytes: null };
    const runs = vm.power === "on";
    if (runs !== moving.live) throw new Failure(runs ? "the VM runs" : "the VM does not run", EXIT.conflict);
    const sent_bytes = runs ? await sendGuest(vm, link, options) : await sendFiles(vm, link, options);
    await store.change(vm.id, { move: { role: "departed", migration_id: moving.migration_id } });
    return { sent_bytes };
  }

  /** Copies files to the target, which verifies and places them later. Returns their digests. */
  async function copyFiles(vm: VmRecord, names: readonly string[], { link, options, onSent }: Copying) {
    const { signal, bandwidth_bytes_per_s } = options;
    const digests: Record<string, string> = {};
    for (const name of names) {
      const path = pathOf(vm, name);
      const bytes = await sizeOf(path);
      const stream = await link.open({ request: "file", name, bytes });
      digests[name] = (await sendFile(path, stream, { bytes, bandwidth_bytes_per_s, signal, onSent })).sha256;
      stream.socket.end();
    }
    return digests;
  }

  function pathOf(vm: VmRecord, name: string): string {
    return name === UEFI_VARIABLES ? places(vm.id).uefi_variables : places(vm.id).disk(name);
  }

  async function sendFiles(vm: VmRecord, link: MoveLink, options: SendOptions): Promise<number> {
    await link.ask({ request: "prepare", image_sha256: bootImageOf(vm), machine_type: vm.machine_type ?? null });
    const names = [...vm.disks.map(({ id }) => id), ...vm.firmware === "uefi" ? [UEFI_VARIABLES] : []];
    const progress = await progressOf(vm, names, options);
    const digests = await copyFiles(vm, names, { link, options, onSent: progress.onSent });
    await options.isWanted();
    await link.ask({ request: "finish", digests }, FINISH_LIMIT_MS);
    return progress.sent();
  }

  /**
   * Reports the progress of files and mirrors together. Until the mirrors report their sizes, the total is the size of
   * all files.
   */
  async function progressOf(vm: VmRecord, names: readonly string[], { onProgress }: SendOptions) {
    const sizes = await Promise.all(names.map((name) => sizeOf(pathOf(vm, name))));
    const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
    let sent = 0;
    const show = (done: number, all: number) =>
      onProgress("disks", Math.min(PERCENT, Math.floor(done / Math.max(1, all) * PERCENT)));
    return {
      sent: () => sent,
      onSent: (more: number) => show(sent += more, total),
      onCopied: ({ done, all }: Copied) => show(sent + done, sent + all),
    };
  }

  async function sendGuest(vm: VmRecord, link: MoveLink, options: SendOptions): Promise<number> {
    const monitor = await power.attach(vm);
    const { qmp } = monitor;
    await settle(monitor);
    // If the guest ends, the migration fails, because the target cannot continue the guest. Then this node records the
    // end.
    const ended = new AbortController();
    void monitor.ended.then(() => ended.abort(new Failure(GUEST_ENDED, EXIT.conflict)));
    await link.ask({
      request: "prepare",
      image_sha256: bootImageOf(vm),
      scsi_ids: await scsiIds(qmp, vm.disks),
      machine_type: await machineTypeOf(qmp),
    });
    const relays: (() => Promise<void>)[] = [];
    const closeRelays = async () => {
      for (const close of relays.splice(0)) await close();
    };
    try {
      const run = async (signal: AbortSignal) => {
        const watched = { ...options, signal };
        const progress = await progressOf(vm, vm.disks.map(({ id }) => id), options);
        // QEMU does not have detached disks open, so their files are copied.
        const detached = vm.disks.filter((disk) => disk.kind === "data" && !isAttachedData(disk)).map(({ id }) => id);
        if (detached.length > 0) {
          const digests = await copyFiles(vm, detached, { link, options: watched, onSent: progress.onSent });
          await link.ask({ request: "place", digests }, FINISH_LIMIT_MS);
        }
        const offer = async (socket: "nbd" | "ram", request: string) => {
          const path = places(vm.id).socket(socket);
          relays.push(await offerUnix(path, { uid: vm.uid, open: () => link.open({ request }) }));
          return path;
        };
        const path = await offer("nbd", "disks");
        const ram = await offer("ram", "memory");
        const disks = openDisks(vm.disks);
        const { bandwidth_bytes_per_s } = options;
        const { onCopied } = progress;
        const disk_bytes = await mirrorDisks(qmp, { disks, path, bandwidth_bytes_per_s, signal, onCopied });
        const memory_bytes = await moveMemory(qmp, { link, ram, disks }, watched);
        await link.ask({ request: "finish" }, FINISH_LIMIT_MS);
        ended.signal.throwIfAborted();
        return progress.sent() + disk_bytes + memory_bytes;
      };
      const signal = AbortSignal.any([options.signal, ended.signal]);
      return await whileAnswers(link, { signal, onLost: closeRelays, run });
    } catch (error) {
      // Each write of the guest waits for its mirror. A target that does not answer would block the guest, so the
      // relays are closed first.
      await closeRelays();
      ended.signal.throwIfAborted();
      // The target has not started its copy, so the guest continues here.
      await settle(monitor).catch((late) => host.log(`VM ${vm.id}: ${late.message}`));
      throw error;
    } finally {
      await closeRelays();
    }
  }

  type Memory = { readonly link: MoveLink; readonly ram: string; readonly disks: readonly OpenDisk[] };

  async function moveMemory(qmp: Qmp, { link, ram, disks }: Memory, options: SendOptions): Promise<number> {
    const { signal, bandwidth_bytes_per_s, onProgress } = options;
    await qmp.execute("migrate-set-capabilities", {
      capabilities: CAPABILITIES.map((capability) => ({ capability, state: true })),
    });
    await qmp.execute("migrate-set-parameters", {
      "max-bandwidth": bandwidth_bytes_per_s,
      "downtime-limit": DOWNTIME_LIMIT_MS,
    });
    await options.isWanted();
    // Without KVM, QEMU 7.2 does not see every write of a guest that runs while its memory is sent. The target then has
    // old pages, and the guest fails there sooner or later. So an emulated guest is paused first.
    const pausesFirst = host.accelerator === "tcg";
    if (pausesFirst) {
      await link.ask({ request: "paused" });
      // The target may have answered after the source gave it up. In that case the guest runs here, and nothing would
      // continue it after `stop`.
      signal.throwIfAborted();
      await qmp.execute("stop");
    }
    signal.throwIfAborted();
    await qmp.execute("migrate", { uri: `unix:${ram}` });
    await untilStatus(qmp, {
      reached: ({ status }) => status === "pre-switchover",
      limit_ms: MEMORY_LIMIT_MS,
      signal,
      onLook: ({ ram: state }) => {
        if (state === undefined) return;
        onProgress("memory", Math.floor((1 - state.remaining / Math.max(1, state.total)) * PERCENT));
      },
    });
    // With and without KVM, the guest is paused from here on.
    const announced = pausesFirst ? null : link.ask({ request: "paused" });
    announced?.catch(() => {});
    await inTime(options.isWanted());
    await announced;
    // The source may have given up the target in the meantime. In that case the guest runs here.
    signal.throwIfAborted();
    await endMirrors(qmp, { disks, signal });
    signal.throwIfAborted();
    await qmp.execute("migrate-continue", { state: "pre-switchover" });
    const { ram: moved } = await untilMigrated(qmp, signal);
    return moved?.transferred ?? 0;
  }

  /** Cancels the memory transfer and disk mirrors that a failed attempt left in QEMU, and lets the guest run. */
  async function settle({ qmp }: VmMonitor): Promise<void> {
    await qmp.execute("migrate_cancel").catch(() => {});
    await dropMirrors(qmp);
    for (;;) {
      const { status } = await qmp.execute("query-migrate");
      if (status !== "cancelling" && status !== "active" && status !== "pre-switchover" && status !== "device") break;
      await sleep(CHECK_MS);
    }
    const { status } = await qmp.execute("query-status");
    if (status === "paused" || status === "postmigrate" || status === "finish-migrate") await qmp.execute("cont");
  }

  async function resume({ instance_id, migration_id }: Moving): Promise<void> {
    const vm = store.get(instance_id);
    if (vm === undefined || vm.move?.role === "arriving") return;
    if (vm.move && vm.move.migration_id !== migration_id) return;
    const own = vm.move ? await store.change(vm.id, { move: null }) : vm;
    if (own.power !== "on") return;
    if ((await processesOf(own)).length > 0) await settle(await power.attach(own));
    else {
      // The node has booted, or QEMU has ended, since the guest was paused. So the guest's memory is lost. The VM boots
      // again: its disks contain everything that the guest wrote.
      await store.change(own.id, { power: "starting" });
      void power.finishStart(own.id).catch((error) => host.log(`VM ${own.id}: ${error.message}`));
    }
  }

  return {
    send: (moving, link, options) => power.serialized(moving.instance_id, () => send(moving, link, options)),
    resume: (moving) => power.serialized(moving.instance_id, () => resume(moving)),
    clean: async ({ instance_id, migration_id }) => {
      const vm = store.get(instance_id);
      if (vm?.move?.role === "departed" && vm.move.migration_id === migration_id) await vms.destroy(instance_id);
    },
  };
}

async function inTime(answer: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const why = "the control plane did not answer while the guest was paused, so the guest continues here";
    timer = setTimeout(() => reject(new Failure(why, EXIT.failure)), ANSWER_LIMIT_MS);
  });
  answer.catch(() => {});
  await Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
