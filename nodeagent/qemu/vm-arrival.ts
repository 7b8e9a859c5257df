// Receives a VM from another node. If the guest runs, a QEMU on this node receives the guest's memory, and the guest
// stays paused until the control plane gives the VM to this node.
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import type { Vms } from "../driver.ts";
import type { Migrations, MoveRequest, Moving, Served } from "../migration/migrations.ts";
import { isAttachedData, openDisks, withScsiIds } from "./block-nodes.ts";
import { placesOf } from "./folders.ts";
import type { Host } from "./host.ts";
import { hasMachineType } from "./machine-type.ts";
import { joined, openUnix } from "./move-sockets.ts";
import { type FileSent, placeFile, receiveFile, UEFI_VARIABLES } from "./move-files.ts";
import { processesOf } from "./processes.ts";
import type { VmPower } from "./vm-power.ts";
import { bootImageOf, type VmRecord } from "./vm-record.ts";
import type { VmStore } from "./vm-store.ts";
import { untilMigrated } from "./migration-status.ts";
import { lockRunFolder } from "./run-folder.ts";
import { recreateDisk } from "./vm-disks.ts";

export type Moves = { readonly host: Host; readonly store: VmStore; readonly power: VmPower; readonly vms: Vms };

type Arrivals = Pick<Migrations, "receive" | "ticketOf" | "awaits" | "serve" | "activate" | "discard">;

const CAPABILITIES = ["events", "pause-before-switchover"] as const;
const OTHER_IMAGE = "the boot disk is of another image than the control plane has recorded; rebuild the instance first";
const MEMORY_LOST = "its memory was lost while it moved to this node; start it again";

export function qemuArrivals({ host, store, power, vms }: Moves): Arrivals {
  const places = (id: string) => placesOf(host.folders, id);
  /** Files that this agent receives or has received, by migration and name. */
  const files = new Map<string, Map<string, Promise<FileSent>>>();
  /** When the source announced that it pauses the guest, by migration. */
  const paused = new Map<string, number>();

  function forget({ migration_id }: Moving): void {
    files.delete(migration_id);
    paused.delete(migration_id);
  }

  function arriving({ instance_id, migration_id }: Pick<Moving, "instance_id" | "migration_id">): VmRecord | undefined {
    const vm = store.get(instance_id);
    return vm?.move?.role === "arriving" && vm.move.migration_id === migration_id ? vm : undefined;
  }

  function expected(moving: Moving): VmRecord {
    const vm = arriving(moving);
    if (vm === undefined) throw new Failure("this node does not receive this migration", EXIT.conflict);
    return vm;
  }

  /**
   * Returns the path of a file that the source sends. A live migration sends only files that QEMU does not have open.
   */
  function fileOf(vm: VmRecord, name: unknown, live: boolean): string {
    if (name === UEFI_VARIABLES && vm.firmware === "uefi" && !live) return places(vm.id).uefi_variables;
    const disk = vm.disks.find(({ id }) => id === name);
    if (disk === undefined || live && (disk.kind !== "data" || isAttachedData(disk))) {
      throw new Failure("the VM has no such file", EXIT.failure);
    }
    return places(vm.id).disk(disk.id);
  }

  /** Ends the QEMU of an earlier attempt. For a live migration, starts a QEMU that waits for the guest's memory. */
  async function prepare(moving: Moving, request: MoveRequest): Promise<Served> {
    const { scsi_ids, image_sha256 } = request;
    // Agents of earlier releases send neither the image nor the machine type.
    const machine_type = typeof request.machine_type === "string" ? request.machine_type : null;
    const known = expected(moving);
    // After a failed rebuild, the boot disk's image may differ from the image that the control plane knows.
    if (image_sha256 !== undefined && image_sha256 !== bootImageOf(known)) {
      throw new Failure(OTHER_IMAGE, EXIT.conflict);
    }
    if (moving.live && machine_type !== null && !await hasMachineType(host.program, machine_type)) {
      const why = `this node's QEMU lacks the machine type ${machine_type} of the running guest`;
      throw new Failure(`${why}; upgrade QEMU, or stop the instance before it moves`, EXIT.conflict);
    }
    const vm = await store.change(known.id, { machine_type });
    files.set(moving.migration_id, new Map());
    await power.end(vm);
    if (!moving.live) return { answer: {} };
    // A mirror does not copy empty parts of the disk, so the files must not contain data of an earlier attempt.
    for (const disk of vm.disks) await recreateDisk(places(vm.id), disk, vm.uid);
    const { qmp } = await power.launch({ ...vm, disks: withScsiIds(vm.disks, scsi_ids) }, ["-incoming", "defer"]);
    await qmp.execute("migrate-set-capabilities", {
      capabilities: CAPABILITIES.map((capability) => ({ capability, state: true })),
    });
    await qmp.execute("nbd-server-start", { addr: { type: "unix", data: { path: places(vm.id).socket("nbd") } } });
    for (const { node } of openDisks(vm.disks)) {
      await qmp.execute("block-export-add", { type: "nbd", id: node, "node-name": node, name: node, writable: true });
    }
    await qmp.execute("migrate-incoming", { uri: `unix:${places(vm.id).socket("ram")}` });
    return { answer: {} };
  }

  function receiveOne(moving: Moving, { name, bytes }: MoveRequest): Served {
    const path = fileOf(expected(moving), name, moving.live);
    const known = files.get(moving.migration_id);
    if (known === undefined || !Number.isSafeInteger(bytes)) {
      throw new Failure(
        "the source sent a file before its request to prepare, or without the size of the file",
        EXIT.failure,
      );
    }
    return {
      stream: async (open) => {
        const received = receiveFile(path, open, bytes as number);
        received.catch(() => {}); // `place` reports the failure.
        known.set(String(name), received);
        await received;
      },
    };
  }

  async function finish(moving: Moving, request: MoveRequest): Promise<Served> {
    const vm = expected(moving);
    if (moving.live) {
      try {
        const { qmp } = await power.attach(vm);
        await untilMigrated(qmp, host.signal);
        await qmp.execute("nbd-server-stop");
      } catch (error) {
        const ending = await host.supervisor.ending(vm.id).catch(() => null);
        host.log(`VM ${vm.id}: its memory did not arrive: ${(error as Error).message}; ${ending}`);
        throw error;
      }
      return { answer: {} };
    }
    return await place(moving, request);
  }

  /** Verifies the received files, and puts them in place as files of the VM. */
  async function place(moving: Moving, { digests }: MoveRequest): Promise<Served> {
    const vm = expected(moving);
    const wanted = Object.entries((digests ?? {}) as Record<string, string>);
    const received = files.get(moving.migration_id);
    for (const [name, sha256] of wanted) {
      if ((await received?.get(name))?.sha256 !== sha256) {
        throw new Failure(`the digest of ${name} differs from the source's`, EXIT.failure);
      }
    }
    for (const [name] of wanted) await placeFile(fileOf(vm, name, moving.live), vm.uid);
    return { answer: {} };
  }

  async function serve(moving: Moving, request: MoveRequest): Promise<Served> {
    switch (request.request) {
      case "prepare":
        return await power.serialized(moving.instance_id, () => prepare(moving, request));
      case "file":
        return receiveOne(moving, request);
      case "disks":
      case "memory": {
        const socket = request.request === "disks" ? "nbd" : "ram";
        const qemu = await openUnix(places(expected(moving).id).socket(socket));
        return { stream: (open) => joined(open, qemu) };
      }
      case "place":
        return await power.serialized(moving.instance_id, () => place(moving, request));
      case "alive":
        expected(moving);
        return { answer: {} };
      case "paused":
        expected(moving);
        paused.set(moving.migration_id, performance.now());
        return { answer: {} };
      case "finish":
        return await power.serialized(moving.instance_id, () => finish(moving, request));
      default:
        throw new Failure("this agent does not know the request; upgrade it", EXIT.failure);
    }
  }

  /**
   * Gives the VM to this node. Writes the record first, so that the VM can be started here even if a later step fails.
   */
  async function activate(moving: Moving): Promise<unknown> {
    const vm = arriving(moving);
    if (vm === undefined) return { downtime_ms: null };
    const { id } = vm;
    if (!moving.live) {
      await store.change(id, { move: null, power: "off", end: { state: "stopped", reason: null } });
      return { downtime_ms: null };
    }
    const waits = await isWaiting(vm);
    if (!waits) {
      await store.change(id, { move: null, power: "off", end: { state: "failed", reason: MEMORY_LOST } });
      await power.end(vm);
      return { downtime_ms: null };
    }
    const own = await store.change(id, { move: null, power: "starting", boot_id: host.boot_id });
    try {
      await lockRunFolder(places(id));
      await power.run(own, await power.attach(own));
    } catch (error) {
      host.log(`VM ${id}: ${(error as Error).message}`);
      await store.change(id, { power: "off", end: { state: "failed", reason: MEMORY_LOST } });
      await power.end(own);
      return { downtime_ms: null };
    }
    const begun_ms = paused.get(moving.migration_id);
    return { downtime_ms: begun_ms === undefined ? null : Math.round(performance.now() - begun_ms) };
  }

  async function isWaiting(vm: VmRecord): Promise<boolean> {
    if ((await processesOf(vm)).length === 0) return false;
    const monitor = await power.attach(vm).catch(() => null);
    const found = await monitor?.qmp.execute("query-migrate").catch(() => null);
    return found?.status === "completed";
  }

  return {
    receive: async (plan, moving, ticket_sha256) => {
      const { id } = plan.instance;
      const known = store.get(id);
      if (known !== undefined && arriving(moving) === undefined) {
        throw new Failure(`VM ${id} is on this node already`, EXIT.conflict);
      }
      const move = { role: "arriving", migration_id: moving.migration_id, ticket_sha256 } as const;
      // The disks have the sizes that the source has applied.
      const disks = plan.disks.map((disk) => ({ ...disk, size_bytes: disk.applied_bytes ?? disk.size_bytes }));
      await vms.createDisks({ ...plan, disks }, move);
      await vms.createNics(plan);
      await vms.create(plan);
    },
    ticketOf: (instance_id, migration_id) => {
      const move = arriving({ instance_id, migration_id })?.move;
      return move?.role === "arriving" ? move.ticket_sha256 : null;
    },
    awaits: () => store.all().some(({ move }) => move?.role === "arriving"),
    serve,
    activate: async (moving) => {
      const activated = await power.serialized(moving.instance_id, () => activate(moving));
      forget(moving);
      return activated;
    },
    discard: async (moving) => {
      forget(moving);
      if (arriving(moving) !== undefined) await vms.destroy(moving.instance_id);
    },
  };
}
