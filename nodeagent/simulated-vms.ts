// Implements the VMs of a simulated machine: records of the VMs that a real platform would create, stored in the
// machine's file.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { writeFileDurably } from "../cli/internal/private-file.ts";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import { addressBindings, type Bindings, isLocalNic, nicsOf } from "./address-bindings.ts";
import type { VmPlan, Vms } from "./driver.ts";
import type { MoveRecord } from "./migration/migrations.ts";
import type { NodeNetwork } from "./network/node-network.ts";
import { noDisk } from "./no-disk.ts";
import { notRunning, STILL_RUNS } from "./not-running.ts";

export type SimulatedDisk = {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly size_bytes: number;
  /** The image of a boot disk; null for a data disk. */
  readonly image_sha256: string | null;
  /** False for a data disk that the guest does not have. Disks of an older agent lack the field. */
  readonly attached?: boolean;
};

export type SimulatedNic = {
  readonly id: string;
  readonly name: string;
  readonly mac: string;
  readonly addresses: readonly string[];
  readonly vpc_id: string;
  readonly subnet_id: string;
};

/** A simulated VM. `state` is the name that the platform uses. */
export type SimulatedVm = {
  readonly uuid: string;
  readonly state: "provisioning" | "running" | "stopped";
  readonly alias: string;
  readonly brand: string;
  readonly owner_uuid: string;
  readonly cpu: number;
  readonly memory_bytes: number;
  readonly disks: readonly SimulatedDisk[];
  readonly nics: readonly SimulatedNic[];
  readonly ssh_public_keys: readonly string[];
  readonly user_data: string | null;
  readonly internal_metadata: Readonly<Record<string, string>>;
  readonly last_modified: string;
  /** Set for a VM that arrives from another node, and for a VM that was sent to another node. */
  readonly move?: MoveRecord | null;
};

/** VMs and address bindings of a machine. */
export type VmInventory = {
  readonly vms: Readonly<Record<string, SimulatedVm>>;
  readonly addresses: Bindings;
};

export type InventoryStore = {
  read(): VmInventory;
  /** Applies a change. The change is on disk when the promise resolves. */
  write(change: Partial<VmInventory>): Promise<void>;
};

/** @param folder for the files of images that are made of snapshots */
export function simulatedVms(store: InventoryStore, network: Pick<NodeNetwork, "documents">, folder: string): Vms {
  const exportOf = (snapshot_id: string) => join(folder, `snapshot-${snapshot_id}.image`);
  const find = (id: string) => store.read().vms[id];

  /** Returns a VM that is not moving. Throws a Failure for a moving VM, because it may belong to another node. */
  function ownVm(id: string): SimulatedVm {
    const vm = existing(id);
    if (vm.move) throw new Failure(`VM ${id} is moving to another node`, EXIT.conflict);
    return vm;
  }

  async function put(vm: SimulatedVm): Promise<void> {
    const { vms } = store.read();
    await store.write({ vms: { ...vms, [vm.uuid]: { ...vm, last_modified: new Date().toISOString() } } });
  }

  function existing(id: string): SimulatedVm {
    const vm = find(id);
    if (vm === undefined) throw new Failure(`VM ${id} does not exist`, EXIT.not_found);
    return vm;
  }

  function hasNic(id: string): boolean {
    return Object.values(store.read().vms).some(({ nics }) => nics.some((nic) => nic.id === id));
  }

  const bindings = {
    change: (next: (now: Bindings) => Bindings) => store.write({ addresses: next(store.read().addresses) }),
  };
  const addresses = addressBindings(bindings, (id) => hasNic(id) || isLocalNic(network.documents(), id));

  async function inState(id: string, state: SimulatedVm["state"]): Promise<void> {
    const vm = ownVm(id);
    if (vm.state !== state) await put({ ...vm, state });
  }

  async function setAttached(id: string, disk_id: string, attached: boolean): Promise<void> {
    const vm = existing(id);
    if (!vm.disks.some((disk) => disk.id === disk_id)) throw noDisk(id, disk_id);
    await put({ ...vm, disks: vm.disks.map((disk) => disk.id === disk_id ? { ...disk, attached } : disk) });
  }

  function known(vm: SimulatedVm, disk_id: string): SimulatedDisk {
    const disk = vm.disks.find(({ id }) => id === disk_id);
    if (disk === undefined) throw noDisk(vm.uuid, disk_id);
    return disk;
  }

  async function removeDisk(id: string, disk_id: string): Promise<void> {
    const vm = find(id);
    if (vm !== undefined) await put({ ...vm, disks: vm.disks.filter((disk) => disk.id !== disk_id) });
  }

  return {
    createDisks: async (plan, move) => {
      const vm = find(plan.instance.id) ?? emptyVm(plan);
      const present = new Set(vm.disks.map(({ id }) => id));
      const made = plan.disks.filter(({ id }) => !present.has(id)).map((disk) => ({
        id: disk.id,
        name: disk.name,
        kind: disk.kind,
        size_bytes: disk.size_bytes,
        image_sha256: disk.kind === "boot" ? plan.image?.sha256 ?? null : null,
        ...disk.kind === "data" && { attached: disk.attached },
      }));
      await put({ ...vm, ...move !== undefined && { move }, disks: [...vm.disks, ...made] });
    },
    createNics: async (plan) => await put({ ...existing(plan.instance.id), nics: nicsOf(plan.nics) }),
    create: async (plan) => {
      const { ssh_public_keys, user_data, managed_identity } = plan;
      const internal_metadata = Object.fromEntries(
        Object.entries(managed_identity ?? {}).map(([key, value]) => [`cp:${key}`, value]),
      );
      await put({ ...existing(plan.instance.id), ssh_public_keys, user_data, internal_metadata });
    },
    setSize: async (id, { cpu, memory_bytes }) => {
      const vm = existing(id);
      const is_new = vm.cpu !== cpu || vm.memory_bytes !== memory_bytes;
      if (is_new && vm.state !== "running") await put({ ...vm, cpu, memory_bytes });
    },
    newNics: (id, plan) => {
      const { state, nics } = existing(id);
      return state === "running" ? [] : nicsOf(plan.nics).filter(({ id }) => !nics.some((nic) => nic.id === id));
    },
    setNics: async (id, plan) => {
      const vm = existing(id);
      const nics = nicsOf(plan.nics);
      if (vm.state === "running" || JSON.stringify(nics) === JSON.stringify(vm.nics)) return;
      const gone = vm.nics.filter((nic) => !nics.some(({ id }) => id === nic.id));
      await addresses.dropNics(gone.map((nic) => nic.id));
      await put({ ...vm, nics });
    },
    boot: (id) => inState(id, "running"),
    halt: async (id) => {
      if (find(id) !== undefined) await inState(id, "stopped");
    },
    reset: async (id) => {
      if (existing(id).state !== "running") throw notRunning();
      await put(existing(id));
    },
    destroy: async (id) => {
      const gone = find(id);
      if (gone === undefined) return;
      await addresses.dropNics(gone.nics.map((nic) => nic.id));
      const { [id]: _gone, ...vms } = store.read().vms;
      await store.write({ vms });
    },
    resize: async (id, disk) => {
      const vm = existing(id);
      const before = vm.disks.find((each) => each.id === disk.id);
      if (before === undefined) throw noDisk(id, disk.id);
      const size_bytes = Math.max(before.size_bytes, disk.size_bytes);
      const disks = vm.disks.map((each) => each.id === disk.id ? { ...each, size_bytes } : each);
      if (size_bytes !== before.size_bytes) await put({ ...vm, disks });
      return size_bytes;
    },
    rebuild: async (id, { id: disk_id, size_bytes, image_sha256 }) => {
      const vm = existing(id);
      known(vm, disk_id);
      if (vm.state === "running") throw new Failure(STILL_RUNS, EXIT.conflict);
      const changed = { size_bytes, image_sha256 };
      await put({ ...vm, disks: vm.disks.map((disk) => disk.id === disk_id ? { ...disk, ...changed } : disk) });
    },
    createDisk: async (id, disk, { source }) => {
      const vm = existing(id);
      if (vm.disks.some((each) => each.id === disk.id)) return await setAttached(id, disk.id, true);
      if (source !== null && "disk_id" in source) known(vm, source.disk_id);
      await put({ ...vm, disks: [...vm.disks, { ...disk, kind: "data", image_sha256: null, attached: true }] });
    },
    attachDisk: (id, disk_id) => setAttached(id, disk_id, true),
    detachDisk: (id, disk_id) => setAttached(id, disk_id, false),
    deleteDisk: removeDisk,
    createSnapshot: async (id, snapshot, { source_disk_id }) => {
      const vm = existing(id);
      const source = known(vm, source_disk_id);
      const others = vm.disks.filter((disk) => disk.id !== snapshot.id);
      // As on a machine with QEMU, a snapshot is a data disk that the guest does not have.
      await put({ ...vm, disks: [...others, { ...snapshot, kind: "data", image_sha256: null, attached: false }] });
      // A simulated guest has no guest agent.
      return vm.state === "running" && source.attached !== false ? "crash" : "at_rest";
    },
    deleteSnapshot: (id, snapshot_id) => removeDisk(id, snapshot_id),
    exportSnapshot: async (id, snapshot_id) => {
      const { size_bytes } = known(existing(id), snapshot_id);
      // A simulated disk has no content, so the file of its image contains only a description.
      await writeFileDurably(exportOf(snapshot_id), `simulated disk ${snapshot_id} of ${size_bytes} bytes\n`);
      return exportOf(snapshot_id);
    },
    deleteExport: async (_id, snapshot_id) => await rm(exportOf(snapshot_id), { force: true }),
    bindAddress: addresses.bind,
    releaseAddress: addresses.release,
    hasNic,
    usesImage: (sha256) =>
      Object.values(store.read().vms).some(({ disks }) => disks.some((disk) => disk.image_sha256 === sha256)),
    disksOf: (id) => (find(id)?.disks ?? []).map(({ id, size_bytes }) => ({ id, size_bytes })),
  };
}

function emptyVm({ instance }: VmPlan): SimulatedVm {
  return {
    uuid: instance.id,
    state: "provisioning",
    alias: instance.name,
    brand: instance.brand,
    owner_uuid: instance.tenant_id,
    cpu: instance.cpu,
    memory_bytes: instance.memory_bytes,
    disks: [],
    nics: [],
    ssh_public_keys: [],
    user_data: null,
    internal_metadata: {},
    last_modified: "",
  };
}
