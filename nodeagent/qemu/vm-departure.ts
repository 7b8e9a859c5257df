// A VM that moves to another node. Its guest runs until disks and memory are on the target. It is then paused until
// the control plane removes the VM from this node or cancels the migration.
import { setTimeout as sleep } from "node:timers/promises";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import type { Migrations, MoveLink, Moving, SendOptions } from "../migration/migrations.ts";
import { placesOf } from "./folders.ts";
import { untilMigrated, untilStatus } from "./migration-status.ts";
import { offerUnix } from "./move-sockets.ts";
import { sendFile, sizeOf } from "./move-files.ts";
import { processesOf } from "./processes.ts";
import { blockNode } from "./qemu-argv.ts";
import type { Qmp } from "./qmp.ts";
import type { Moves } from "./vm-arrival.ts";
import type { VmMonitor } from "./vm-monitor.ts";
import type { VmRecord } from "./vm-record.ts";

type Departures = Pick<Migrations, "send" | "resume" | "clean">;

/** Longest planned pause of the guest. QEMU pauses the guest when it can send the rest in this time. */
const DOWNTIME_LIMIT_MS = 300;
/** Time limit for the memory. The migration fails if the guest changes memory faster than the source can send it. */
const MEMORY_LIMIT_MS = 3_600_000;
/** Time that the control plane has to answer while the guest is paused. Afterwards the guest continues on this node. */
const ANSWER_LIMIT_MS = 3_000;
/** Time limit for the target to verify the files, or to receive the rest of the memory. */
const FINISH_LIMIT_MS = 600_000;
const CHECK_MS = 50;
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

  async function sendFiles(vm: VmRecord, link: MoveLink, options: SendOptions): Promise<number> {
    const { signal, bandwidth_bytes_per_s, onProgress } = options;
    await link.ask({ request: "prepare" });
    const names = [...vm.disks.map(({ id }) => id), ...vm.firmware === "uefi" ? ["uefi-variables"] : []];
    const all = await Promise.all(names.map(async (name) => {
      const path = name === "uefi-variables" ? places(vm.id).uefi_variables : places(vm.id).disk(name);
      return { name, path, bytes: await sizeOf(path) };
    }));
    const total = all.reduce((sum, { bytes }) => sum + bytes, 0);
    let sent = 0;
    const digests: Record<string, string> = {};
    for (const { name, path, bytes } of all) {
      const stream = await link.open({ request: "file", name, bytes });
      const onSent = (more: number) => onProgress("disks", Math.floor((sent += more) / Math.max(1, total) * PERCENT));
      digests[name] = (await sendFile(path, stream, { bytes, bandwidth_bytes_per_s, signal, onSent })).sha256;
      stream.socket.end();
    }
    await options.isWanted();
    await link.ask({ request: "finish", digests }, FINISH_LIMIT_MS);
    return sent;
  }

  async function sendGuest(vm: VmRecord, link: MoveLink, options: SendOptions): Promise<number> {
    const monitor = await power.attach(vm);
    await settle(vm, monitor);
    await link.ask({ request: "prepare" });
    const closers: (() => Promise<void>)[] = [];
    try {
      const offer = async (socket: "nbd" | "ram", request: string) => {
        const path = places(vm.id).socket(socket);
        closers.push(await offerUnix(path, { uid: vm.uid, open: () => link.open({ request }) }));
        return path;
      };
      const nbd = await offer("nbd", "disks");
      const ram = await offer("ram", "memory");
      const disk_bytes = await mirrorDisks(vm, monitor.qmp, nbd, options);
      const memory_bytes = await moveMemory(monitor.qmp, { link, ram, vm }, options);
      await link.ask({ request: "finish" }, FINISH_LIMIT_MS);
      return disk_bytes + memory_bytes;
    } catch (error) {
      // The target never started its copy, so the guest continues here.
      await settle(vm, monitor).catch((late) => host.log(`VM ${vm.id}: ${late.message}`));
      throw error;
    } finally {
      for (const close of closers) await close();
    }
  }

  /** Mirrors the disks to the target. Returns the bytes that were copied once both sides are equal. */
  async function mirrorDisks(vm: VmRecord, qmp: Qmp, path: string, options: SendOptions): Promise<number> {
    const { signal, bandwidth_bytes_per_s: speed, onProgress } = options;
    for (const index of vm.disks.keys()) {
      const [node, target] = [blockNode(index), mirrorNode(index)];
      const server = { type: "unix", path };
      await qmp.execute("blockdev-add", { driver: "nbd", "node-name": target, export: node, server });
      await qmp.execute("blockdev-mirror", {
        "job-id": target,
        device: node,
        target,
        sync: "top",
        "copy-mode": "write-blocking",
        speed,
      });
    }
    for (;;) {
      const jobs = (await qmp.execute("query-block-jobs")).filter(({ device }) => isMirror(device));
      if (jobs.length < vm.disks.length) throw new Failure("a disk could not be copied to the target", EXIT.failure);
      if (jobs.every(({ ready }) => ready)) return jobs.reduce((sum, { len }) => sum + len, 0);
      const done = jobs.reduce((sum, { offset }) => sum + offset, 0);
      const all = jobs.reduce((sum, { len }) => sum + len, 0);
      onProgress("disks", Math.min(PERCENT, Math.floor(done / Math.max(1, all) * PERCENT)));
      await sleep(CHECK_MS, undefined, { signal });
    }
  }

  type Memory = { readonly link: MoveLink; readonly ram: string; readonly vm: VmRecord };

  async function moveMemory(qmp: Qmp, { link, ram, vm }: Memory, options: SendOptions): Promise<number> {
    const { signal, bandwidth_bytes_per_s, onProgress } = options;
    await qmp.execute("migrate-set-capabilities", {
      capabilities: CAPABILITIES.map((capability) => ({ capability, state: true })),
    });
    await qmp.execute("migrate-set-parameters", {
      "max-bandwidth": bandwidth_bytes_per_s,
      "downtime-limit": DOWNTIME_LIMIT_MS,
    });
    await options.isWanted();
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
    // The guest is paused from here.
    const announced = link.ask({ request: "paused" });
    announced.catch(() => {});
    await inTime(options.isWanted());
    await announced;
    for (const index of vm.disks.keys()) await qmp.execute("block-job-cancel", { device: mirrorNode(index) });
    while ((await qmp.execute("query-block-jobs")).some(({ device }) => isMirror(device))) {
      await sleep(1, undefined, { signal });
    }
    await qmp.execute("migrate-continue", { state: "pre-switchover" });
    const { ram: moved } = await untilMigrated(qmp, signal);
    return moved?.transferred ?? 0;
  }

  /** Cancels the memory transfer and disk mirrors that a failed attempt left in QEMU, and lets the guest run. */
  async function settle(vm: VmRecord, { qmp }: VmMonitor): Promise<void> {
    await qmp.execute("migrate_cancel").catch(() => {});
    for (const { device } of (await qmp.execute("query-block-jobs")).filter((job) => isMirror(job.device))) {
      await qmp.execute("block-job-cancel", { device, force: true }).catch(() => {});
    }
    while ((await qmp.execute("query-block-jobs")).some(({ device }) => isMirror(device))) await sleep(CHECK_MS);
    for (const index of vm.disks.keys()) {
      await qmp.execute("blockdev-del", { "node-name": mirrorNode(index) }).catch(() => {});
    }
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
    if ((await processesOf(own)).length > 0) await settle(own, await power.attach(own));
    else {
      // The node booted while the VM waited. Its disks contain everything that its guest wrote.
      await store.change(own.id, { power: "starting" });
      void power.boot(own.id).catch((error) => host.log(`VM ${own.id}: ${error.message}`));
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

function mirrorNode(index: number): string {
  return `mirror${index}`;
}

function isMirror(device: string): boolean {
  return /^mirror[0-9]+$/.test(device);
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
