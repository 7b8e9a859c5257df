// Stores the records of all VMs of the node, in memory and on disk.
import { chmod, mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Folders, placesOf, vmsFolder } from "./folders.ts";
import { SANDBOX_UID } from "./unprivileged.ts";
import { readVmRecord, type VmRecord, writeVmRecord } from "./vm-record.ts";

export type VmStore = {
  get(id: string): VmRecord | undefined;
  all(): readonly VmRecord[];
  /**
   * Creates or replaces a record. The record is on disk when the promise resolves. If the promise rejects, the earlier
   * record is valid again.
   */
  put(record: VmRecord): Promise<void>;
  /** Changes fields of a record, which must exist. */
  change(id: string, change: Partial<VmRecord>): Promise<VmRecord>;
  /** Removes the VM's folder, its record last, so that an interrupted removal can continue. */
  remove(id: string): Promise<void>;
  /**
   * Returns a user for a new VM: the lowest id that no VM has. The caller must store the record before the next call.
   */
  freeUid(): number;
};

const FIRST_UID = SANDBOX_UID + 1;
const OPEN_FOLDER = 0o711;

/** Reads all records. Calls `onDamaged` for a VM whose record cannot be read; the VM is then not managed. */
export async function openVmStore(folders: Folders, onDamaged: (why: string) => void): Promise<VmStore> {
  const folder = vmsFolder(folders);
  await mkdir(folder, { recursive: true, mode: OPEN_FOLDER });
  // The umask of the agent's unit removes permissions from a new folder, so QEMU's users could not enter the folder.
  await chmod(folder, OPEN_FOLDER);
  const records = new Map<string, VmRecord>();
  // The group of a VM's folder shows the VM's user, even if the record is damaged.
  const taken = new Set<number>();
  for (const name of await readdir(folder)) {
    taken.add((await stat(join(folder, name))).gid);
    try {
      const record = await readVmRecord(join(folder, name));
      if (record !== null) records.set(record.id, record);
    } catch (error) {
      onDamaged((error as Error).message);
    }
  }

  const put = async (record: VmRecord) => {
    const kept = { ...record, last_modified: new Date().toISOString() };
    const earlier = records.get(record.id);
    // The record is in memory at once, so that `freeUid` does not return its user again.
    records.set(record.id, kept);
    try {
      await writeVmRecord(placesOf(folders, record.id).folder, kept);
    } catch (error) {
      // Restores the earlier record, so that the memory does not show a failed change. The caller repeats the change.
      if (records.get(record.id) === kept) {
        if (earlier === undefined) records.delete(record.id);
        else records.set(record.id, earlier);
      }
      throw error;
    }
  };

  return {
    get: (id) => records.get(id),
    all: () => [...records.values()],
    put,
    change: async (id, change) => {
      const record = records.get(id);
      if (record === undefined) throw new Error(`VM ${id} does not exist`);
      await put({ ...record, ...change });
      return records.get(id)!;
    },
    remove: async (id) => {
      const place = placesOf(folders, id).folder;
      const names = await readdir(place).catch(() => []);
      await Promise.all(
        names.filter((name) => name !== "vm.json").map((name) => rm(join(place, name), { recursive: true })),
      );
      await rm(place, { recursive: true, force: true });
      const { uid } = records.get(id) ?? {};
      if (uid !== undefined) taken.delete(uid);
      records.delete(id);
    },
    freeUid: () => {
      const used = new Set([...records.values()].map(({ uid }) => uid));
      let uid = FIRST_UID;
      while (used.has(uid) || taken.has(uid)) uid += 1;
      return uid;
    },
  };
}
