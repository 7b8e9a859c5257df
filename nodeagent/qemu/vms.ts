// Implements the operations of the agent's jobs on the VMs of a machine with QEMU.
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import { readPrivateFile, writeFileDurably } from "../../cli/internal/private-file.ts";
import { addressBindings, type BindingStore, isLocalNic, nicsOf } from "../address-bindings.ts";
import { ignoreFullDisk } from "../full-disk.ts";
import type { NicsPlan, VmPlan, Vms } from "../driver.ts";
import type { MoveRecord } from "../migration/migrations.ts";
import { noDisk } from "../no-disk.ts";
import { notAnswering, notRunning } from "../not-running.ts";
import { dataDisks } from "./data-disks.ts";
import { snapshots } from "./snapshots.ts";
import { placesOf } from "./folders.ts";
import type { NodeNetwork } from "../network/node-network.ts";
import type { Host } from "./host.ts";
import { openDisks } from "./block-nodes.ts";
import { MACHINE_TYPE } from "./machine-type.ts";
import { processesOf } from "./processes.ts";
import { rebuildVm } from "./rebuild.ts";
import { fatVolume } from "./fat-volume.ts";
import { LABEL as SEED_LABEL, networkConfig, seedFiles } from "./seed.ts";
import {
  createDisk,
  createUefiVariables,
  createVmFolder,
  firmwareOf,
  growDisk,
  linkBase,
  writeSeed,
} from "./vm-disks.ts";
import { createNetwork, removeNetwork } from "./vm-network.ts";
import type { VmPower } from "./vm-power.ts";
import type { VmDisk, VmNic, VmRecord } from "./vm-record.ts";
import type { VmStore } from "./vm-store.ts";

export type VmsOptions = {
  readonly host: Host;
  readonly store: VmStore;
  readonly power: VmPower;
  readonly bindings: BindingStore;
  readonly network: Pick<NodeNetwork, "detach" | "documents">;
};

export function qemuVms({ host, store, power, bindings, network }: VmsOptions): Vms {
  const places = (id: string) => placesOf(host.folders, id);
  const hasNic = (id: string) => store.all().some(({ nics }) => nics.some((nic) => nic.id === id));
  const addresses = addressBindings(bindings, (id) => hasNic(id) || isLocalNic(network.documents(), id));

  const mtus = () => new Map(network.documents().map(({ vpc_id, mtu }) => [vpc_id, mtu]));

  const qmp = (id: string) => power.monitor(id)?.qmp;
  const isSilent = async (vm: VmRecord) => qmp(vm.id) === undefined && (await processesOf(vm)).length > 0;
  const ports = { store, places, qmp, isSilent };
  const data = dataDisks(ports);
  const copies = snapshots({ ...ports, log: host.log, signal: host.signal });

  function existing(id: string): VmRecord {
    const vm = store.get(id);
    if (vm === undefined) throw new Failure(`VM ${id} does not exist`, EXIT.not_found);
    return vm;
  }

  async function createDisks(plan: VmPlan, move: MoveRecord | null = null): Promise<void> {
    const { id } = plan.instance;
    // The source of a migration sends the machine type of its VM.
    const machine_type = move === null ? MACHINE_TYPE : null;
    const known = store.get(id) ?? emptyVm(plan, { uid: store.freeUid(), boot_id: host.boot_id, machine_type });
    const present = new Set(known.disks.map((disk) => disk.id));
    const added = plan.disks.filter((disk) => !present.has(disk.id)).map((disk): VmDisk => ({
      id: disk.id,
      name: disk.name,
      kind: disk.kind,
      size_bytes: disk.size_bytes,
      image_sha256: disk.kind === "boot" ? plan.image?.sha256 ?? null : null,
      ...disk.kind === "data" && { attached: disk.attached },
    }));
    // The record is written before the files, so that an interrupted creation can be continued or undone.
    const vm = { ...known, ...move !== null && { move }, disks: [...known.disks, ...added] };
    await store.put(vm);
    await createVmFolder(places(id), vm.uid);
    if (vm.disks.some(({ image_sha256 }) => image_sha256 !== null)) {
      await linkBase(places(id), plan.image_path);
      await store.change(id, { firmware: await firmwareOf(places(id)) });
    }
    for (const disk of vm.disks) {
      await createDisk(places(id), disk, { uid: vm.uid, has_base: disk.image_sha256 !== null });
    }
  }

  async function createNics(plan: VmPlan): Promise<void> {
    const nics = nicsOf(plan.nics);
    existing(plan.instance.id);
    await createNetwork(await store.change(plan.instance.id, { nics }));
  }

  function newNics(id: string, plan: NicsPlan): readonly VmNic[] {
    const { power, nics } = existing(id);
    return power === "off" ? nicsOf(plan.nics).filter(({ id }) => !nics.some((nic) => nic.id === id)) : [];
  }

  async function setNics(id: string, plan: NicsPlan): Promise<void> {
    const vm = existing(id);
    const nics = nicsOf(plan.nics);
    if (vm.power !== "off" || JSON.stringify(nics) === JSON.stringify(vm.nics)) return;
    const gone = vm.nics.filter((nic) => !nics.some(({ id }) => id === nic.id));
    // The seed is written before the record, so that an interrupted change is repeated.
    const saved = await readPrivateFile(places(id).guest_files);
    if (saved !== null) {
      const files = { ...JSON.parse(saved) as Record<string, string>, "network-config": networkConfig(plan, mtus()) };
      await writeSeed(places(id), fatVolume(SEED_LABEL, files), vm.uid);
      await writeFileDurably(places(id).guest_files, `${JSON.stringify(files)}\n`);
    }
    await network.detach(gone);
    await addresses.dropNics(gone.map((nic) => nic.id));
    await store.change(id, { nics });
  }

  async function create(plan: VmPlan): Promise<void> {
    const { id, uid, firmware } = existing(plan.instance.id);
    const identity = Object.entries(plan.managed_identity ?? {}).map(([key, value]) => [`cp:${key}`, value]);
    const files = seedFiles(plan, mtus());
    await writeSeed(places(id), fatVolume(SEED_LABEL, files), uid);
    await writeFileDurably(places(id).guest_files, `${JSON.stringify(files)}\n`);
    if (firmware === "uefi") {
      if (host.uefi === null) throw new Failure("the image boots only with UEFI, which this node lacks", EXIT.failure);
      await createUefiVariables(places(id), host.uefi.variables, uid);
    }
    await store.change(id, { internal_metadata: Object.fromEntries(identity) });
  }

  async function setSize(id: string, { cpu, memory_bytes }: Pick<VmRecord, "cpu" | "memory_bytes">): Promise<void> {
    const vm = existing(id);
    const is_new = vm.cpu !== cpu || vm.memory_bytes !== memory_bytes;
    if (is_new && vm.power === "off") await store.change(id, { cpu, memory_bytes });
  }

  async function destroy(id: string): Promise<void> {
    const nics = store.get(id)?.nics.map((nic) => nic.id) ?? [];
    await power.cut(id);
    await removeNetwork(id);
    const dropNics = () => addresses.dropNics(nics).catch(ignoreFullDisk);
    await dropNics();
    await store.remove(id);
    // Tries again: the first call fails on a full disk, and the removal of the files has made room.
    await dropNics();
  }

  /** Grows the disk's file or, through QEMU, the running guest's disk. Disks never shrink. */
  async function resize(id: string, wanted: { readonly id: string; readonly size_bytes: number }): Promise<number> {
    const vm = existing(id);
    const disk = vm.disks.find(({ id }) => id === wanted.id);
    if (disk === undefined) throw noDisk(id, wanted.id);
    const size_bytes = Math.max(disk.size_bytes, wanted.size_bytes);
    const node = openDisks(vm.disks).find((open) => open.id === wanted.id)?.node;
    if (node !== undefined && await isSilent(vm)) throw notAnswering();
    const monitor = qmp(id);
    // An interrupted job may have grown the file before it changed the record. The growth is then repeated.
    if (node !== undefined && monitor !== undefined) {
      await monitor.execute("block_resize", { "node-name": node, size: size_bytes });
    } else if (size_bytes > disk.size_bytes) await growDisk(places(id).disk(disk.id), size_bytes, vm.uid);
    const disks = vm.disks.map((each) => each.id === disk.id ? { ...each, size_bytes } : each);
    if (size_bytes !== disk.size_bytes) await store.change(id, { disks });
    return size_bytes;
  }

  return {
    createDisks: (plan, move) => power.serialized(plan.instance.id, () => createDisks(plan, move)),
    createNics: (plan) => power.serialized(plan.instance.id, () => createNics(plan)),
    create: (plan) => power.serialized(plan.instance.id, () => create(plan)),
    setSize: (id, size) => power.serialized(id, () => setSize(id, size)),
    newNics,
    setNics: (id, plan) => power.serialized(id, () => setNics(id, plan)),
    boot: (id, signal = host.signal) => power.boot(id, signal),
    halt: power.halt,
    reset: async (id) => {
      const monitor = existing(id).power === "on" ? power.monitor(id) : undefined;
      if (monitor === undefined) throw notRunning();
      await monitor.qmp.execute("system_reset");
    },
    destroy: (id) => power.serialized(id, () => destroy(id)),
    resize: (id, disk) => power.serialized(id, () => resize(id, disk)),
    rebuild: (id, disk) => power.serialized(id, () => rebuildVm({ host, store }, existing(id), disk)),
    createDisk: (id, disk, copy) => power.serialized(id, () => data.create(existing(id), disk, copy)),
    attachDisk: (id, disk_id) => power.serialized(id, () => data.attach(existing(id), disk_id)),
    detachDisk: (id, disk_id) => power.serialized(id, () => data.detach(existing(id), disk_id)),
    deleteDisk: (id, disk_id) =>
      power.serialized(id, async () => {
        const vm = store.get(id);
        if (vm !== undefined) await data.remove(vm, disk_id);
      }),
    createSnapshot: (id, snapshot, copy) => power.serialized(id, () => copies.create(existing(id), snapshot, copy)),
    deleteSnapshot: (id, snapshot_id) =>
      power.serialized(id, async () => {
        const vm = store.get(id);
        if (vm !== undefined) await copies.remove(vm, snapshot_id);
      }),
    exportSnapshot: (id, snapshot_id, copy) =>
      power.serialized(id, () => copies.exportFile(existing(id), snapshot_id, copy)),
    deleteExport: (id, snapshot_id) => power.serialized(id, () => copies.removeExport(id, snapshot_id)),
    bindAddress: addresses.bind,
    releaseAddress: addresses.release,
    hasNic,
    usesImage: (sha256) => store.all().some(({ disks }) => disks.some((disk) => disk.image_sha256 === sha256)),
    disksOf: (id) => (store.get(id)?.disks ?? []).map(({ id, size_bytes }) => ({ id, size_bytes })),
  };
}

function emptyVm({ instance }: VmPlan, own: Pick<VmRecord, "uid" | "boot_id" | "machine_type">): VmRecord {
  return {
    id: instance.id,
    name: instance.name,
    brand: instance.brand,
    owner_uuid: instance.tenant_id,
    cpu: instance.cpu,
    memory_bytes: instance.memory_bytes,
    firmware: "bios",
    disks: [],
    nics: [],
    internal_metadata: {},
    power: "off",
    end: null,
    last_modified: "",
    ...own,
  };
}
