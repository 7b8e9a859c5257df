// Defines the driver tests of disks and snapshots. The first test begins with a running VM. Each test ends with a
// stopped VM.
import { randomUUID } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { expect } from "vitest";
import type { Contract } from "./driver-subject.ts";

/** A signal that is never aborted. */
const { signal } = new AbortController();

export function disksContract(contract: Contract): void {
  contract("the disk of a running or stopped VM grows, and never shrinks", async ({ machine, id, vms, seen }) => {
    const [disk] = vms().disksOf(id);
    const grown = disk!.size_bytes + 2 ** 20;
    expect(await vms().resize(id, { id: disk!.id, size_bytes: grown })).toBe(grown);
    expect(await vms().resize(id, { id: disk!.id, size_bytes: 1 })).toBe(grown);
    await expect(vms().resize(id, { id: randomUUID(), size_bytes: grown })).rejects.toThrow(`VM ${id} has no disk`);
    await vms().halt(id);
    expect((await seen())?.state).toBe("stopped");
    expect(await machine.driver().metrics()).toEqual({});
    await expect(machine.driver().screenshot(id)).rejects.toThrow("the machine does not run");
    await expect(vms().reset(id)).rejects.toThrow("the machine does not run");
    expect(await vms().resize(id, { id: disk!.id, size_bytes: grown + 2 ** 20 })).toBe(grown + 2 ** 20);
    expect(vms().disksOf(id)).toEqual([{ id: disk!.id, size_bytes: grown + 2 ** 20 }]);
    expect((await seen())?.quota).toBe(1);
  });

  contract(
    "a data disk is created, detached, attached and deleted, while the VM runs and while it is stopped",
    async ({ machine, id, vms, seen }) => {
      const sizes = () => vms().disksOf(id).slice(1);
      for (const state of ["stopped", "running"]) {
        if (state === "running") await vms().boot(id);
        const disk = { id: randomUUID(), name: "data", size_bytes: 2 ** 26 };
        await vms().createDisk(id, disk, { source: null, signal });
        await vms().createDisk(id, disk, { source: null, signal });
        expect(sizes()).toEqual([{ id: disk.id, size_bytes: disk.size_bytes }]);
        for (const change of [vms().detachDisk, vms().attachDisk, vms().detachDisk]) {
          await change(id, disk.id);
          await change(id, disk.id);
          const grown = sizes()[0]!.size_bytes + 2 ** 20;
          expect(await vms().resize(id, { id: disk.id, size_bytes: grown })).toBe(grown);
        }
        await vms().attachDisk(id, disk.id);
        await machine.restart();
        if (state === "running") await vms().reset(id);
        await vms().deleteDisk(id, disk.id);
        await vms().deleteDisk(id, disk.id);
        expect(sizes()).toEqual([]);
        await expect(vms().attachDisk(id, disk.id)).rejects.toThrow(`VM ${id} has no disk ${disk.id}`);
        expect((await seen())?.state).toBe(state);
      }
      await vms().halt(id);
      await vms().deleteDisk(randomUUID(), randomUUID());
    },
  );

  contract(
    "a disk is copied into a snapshot, and the snapshot into a disk, while the VM runs and while it is stopped",
    async ({ machine, id, vms, seen }) => {
      const [boot] = vms().disksOf(id);
      const others = () => vms().disksOf(id).slice(1).map((disk) => disk.id).toSorted();
      for (const state of ["stopped", "running"]) {
        if (state === "running") await vms().boot(id);
        // If the growth of a disk failed on the node, the server may request a snapshot that is larger than the disk.
        const snapshot = { id: randomUUID(), name: "before", size_bytes: boot!.size_bytes + 2 ** 20 };
        // "frozen": the guest may have booted by now, and may run the QEMU guest agent.
        const expected = state === "running" ? ["crash", "frozen"] : ["at_rest"];
        expect(expected).toContain(await vms().createSnapshot(id, snapshot, { source_disk_id: boot!.id, signal }));
        // An interrupted job runs again.
        expect(expected).toContain(await vms().createSnapshot(id, snapshot, { source_disk_id: boot!.id, signal }));
        expect(others()).toEqual([snapshot.id]);
        const restored = { ...snapshot, id: randomUUID(), name: "restored" };
        await vms().createDisk(id, restored, { source: { disk_id: snapshot.id }, signal });
        await machine.restart();
        await vms().createDisk(id, restored, { source: { disk_id: snapshot.id }, signal });
        expect(others()).toEqual([snapshot.id, restored.id].toSorted());
        const file = await vms().exportSnapshot(id, snapshot.id, { signal });
        const exported = await readFile(file);
        expect(await vms().exportSnapshot(id, snapshot.id, { signal })).toBe(file);
        expect(await readFile(file)).toEqual(exported);
        await vms().deleteExport(id, snapshot.id);
        await vms().deleteExport(id, snapshot.id);
        await expect(stat(file)).rejects.toThrow("ENOENT");
        expect(expected).toContain(
          await vms().createSnapshot(id, { ...restored, id: randomUUID() }, { source_disk_id: restored.id, signal }),
        );
        await vms().deleteDisk(id, restored.id);
        for (const each of others()) await vms().deleteSnapshot(id, each);
        await vms().deleteSnapshot(id, snapshot.id);
        expect(others()).toEqual([]);
        await expect(vms().createSnapshot(id, snapshot, { source_disk_id: randomUUID(), signal })).rejects.toThrow(
          `VM ${id} has no disk`,
        );
        await expect(vms().exportSnapshot(id, snapshot.id, { signal })).rejects.toThrow(`VM ${id} has no disk`);
        expect((await seen())?.state).toBe(state);
      }
      await vms().halt(id);
      await vms().deleteSnapshot(randomUUID(), randomUUID());
    },
  );

  contract(
    "a stopped VM gets a new boot disk, and keeps its snapshots and data disks",
    async ({ machine, plan, id, vms, seen }) => {
      const [boot] = vms().disksOf(id);
      const snapshot = { id: randomUUID(), name: "before", size_bytes: boot!.size_bytes };
      const data = { id: randomUUID(), name: "data", size_bytes: 2 ** 26 };
      await vms().createSnapshot(id, snapshot, { source_disk_id: boot!.id, signal });
      await vms().createDisk(id, data, { source: null, signal });
      const wanted = {
        id: boot!.id,
        size_bytes: boot!.size_bytes + 2 ** 20,
        image_sha256: "cd".repeat(32),
        image_path: plan.image_path,
      };
      await vms().boot(id);
      await expect(vms().rebuild(id, wanted)).rejects.toThrow("the machine still runs");
      await vms().halt(id);
      await expect(vms().rebuild(id, { ...wanted, id: data.id.toUpperCase() })).rejects.toThrow(`VM ${id} has no disk`);
      await vms().rebuild(id, wanted);
      // An interrupted job runs again.
      await vms().rebuild(id, wanted);
      await machine.restart();
      const { size_bytes } = wanted;
      const kept = [snapshot, data].map((disk) => ({ id: disk.id, size_bytes: disk.size_bytes }));
      expect(vms().disksOf(id)).toHaveLength(3);
      expect(vms().disksOf(id)).toEqual(expect.arrayContaining([{ id: boot!.id, size_bytes }, ...kept]));
      expect([vms().usesImage(wanted.image_sha256), vms().usesImage(plan.image!.sha256)]).toEqual([true, false]);
      await vms().boot(id);
      expect((await seen())?.state).toBe("running");
      await vms().halt(id);
      await vms().deleteSnapshot(id, snapshot.id);
      await vms().deleteDisk(id, data.id);
      await vms().rebuild(id, { ...wanted, image_sha256: plan.image!.sha256 });
    },
  );
}
