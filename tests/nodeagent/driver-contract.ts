// Defines tests of the behaviour that every driver must have. The test file of each driver opens a machine and
// registers these tests.
import { randomUUID } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";
import { isPng } from "../../src/lib/console/png.ts";
import type { AddressBinding, Driver, VmPlan } from "../../nodeagent/driver.ts";
import { MachineMetrics } from "../../src/contract/instance-metrics.ts";

/** A signal that is never aborted. */
const { signal } = new AbortController();

export type ContractMachine = {
  driver(): Driver;
  /** Opens the driver again, as a restarted agent does. */
  restart(): Promise<Driver>;
  /** Returns a plan for a new instance. */
  plan(): Promise<VmPlan>;
  remove(): Promise<void>;
};

type Seen = { readonly state: string; readonly quota: number; readonly nics: readonly unknown[] };

/**
 * Registers the tests.
 * @param check skips a test on a machine that lacks something for the driver
 */
export function driverContract(
  name: string,
  open: () => Promise<ContractMachine>,
  check: (context: Pick<TestContext, "skip">) => void = () => {},
): void {
  describe(`the ${name} driver`, () => {
    let machine: ContractMachine | undefined;
    let plan: VmPlan;
    let id: string;

    beforeAll(async () => {
      let lacks = false;
      check({ skip: (condition?: unknown) => void (lacks ||= condition === true) } as Pick<TestContext, "skip">);
      if (lacks) return;
      machine = await open();
      plan = await machine.plan();
      id = plan.instance.id;
    });
    afterAll(() => machine?.remove());

    const vms = () => machine!.driver().vms;
    const seen = async () => ((await machine!.driver().status()).vms as Readonly<Record<string, Seen>>)[id];
    const size = async () => {
      const { vms } = await machine!.driver().status();
      const { cpu_cap, max_physical_memory } = (vms as Record<string, Readonly<Record<string, number>>>)[id]!;
      return { cpu: cpu_cap! / 100, memory_mb: max_physical_memory };
    };
    const contract = (title: string, body: () => Promise<void>) =>
      test(title, async (context) => {
        check(context);
        await body();
      });

    contract("an unknown VM can be halted and destroyed, but not booted or resized", async () => {
      const unknown = randomUUID();
      await vms().halt(unknown);
      await vms().destroy(unknown);
      await expect(vms().boot(unknown)).rejects.toThrow(`VM ${unknown} does not exist`);
      const resized = vms().resize(unknown, { id: randomUUID(), size_bytes: 2 ** 30 });
      await expect(resized).rejects.toThrow(`VM ${unknown} does not exist`);
      expect(vms().disksOf(unknown)).toEqual([]);
    });

    contract(
      "a repeated creation of disks changes nothing, and the image of the disks is in use from then on",
      async () => {
        expect(vms().usesImage(plan.image!.sha256)).toBe(false);
        await vms().createDisks(plan);
        await vms().createDisks(plan);
        expect(vms().disksOf(id)).toEqual(plan.disks.map(({ id, size_bytes }) => ({ id, size_bytes })));
        expect(vms().usesImage(plan.image!.sha256)).toBe(true);
        expect(await seen()).toMatchObject({ state: "provisioning", nics: [] });
      },
    );

    contract("a repeated creation of NICs changes nothing, and the driver then knows the NICs", async () => {
      const [nic] = plan.nics;
      expect(vms().hasNic(nic!.id)).toBe(false);
      await vms().createNics(plan);
      await vms().createNics(plan);
      expect(vms().hasNic(nic!.id)).toBe(true);
      expect((await seen())?.nics).toMatchObject([{ id: nic!.id, mac: nic!.mac, addresses: ["10.0.1.5"] }]);
    });

    contract("a created VM is provisioning until its first boot, and then runs", async () => {
      await vms().create(plan);
      await vms().create(plan);
      expect((await seen())?.state).toBe("provisioning");
      await vms().boot(id);
      await vms().boot(id);
      expect((await seen())?.state).toBe("running");
    });

    contract("a running VM has metrics", async () => {
      const found = (await machine!.driver().metrics())[id];
      // The server ignores metrics that its schema refuses.
      expect(MachineMetrics.parse(found)).toEqual(found);
      expect(found!.memory_bytes).toBeGreaterThan(2 ** 20);
    });

    contract("a screenshot of a running VM is a PNG file, and a reset VM still runs", async () => {
      expect(isPng(await machine!.driver().screenshot(id))).toBe(true);
      await vms().reset(id);
      expect((await seen())?.state).toBe("running");
    });

    contract("an unchanged machine has an unchanged status", async () => {
      expect(await machine!.driver().status()).toEqual(await machine!.driver().status());
    });

    contract("the disk of a running or stopped VM grows, and never shrinks", async () => {
      const [disk] = vms().disksOf(id);
      const grown = disk!.size_bytes + 2 ** 20;
      expect(await vms().resize(id, { id: disk!.id, size_bytes: grown })).toBe(grown);
      expect(await vms().resize(id, { id: disk!.id, size_bytes: 1 })).toBe(grown);
      await expect(vms().resize(id, { id: randomUUID(), size_bytes: grown })).rejects.toThrow(`VM ${id} has no disk`);
      await vms().halt(id);
      expect((await seen())?.state).toBe("stopped");
      expect(await machine!.driver().metrics()).toEqual({});
      await expect(machine!.driver().screenshot(id)).rejects.toThrow("the machine does not run");
      await expect(vms().reset(id)).rejects.toThrow("the machine does not run");
      expect(await vms().resize(id, { id: disk!.id, size_bytes: grown + 2 ** 20 })).toBe(grown + 2 ** 20);
      expect(vms().disksOf(id)).toEqual([{ id: disk!.id, size_bytes: grown + 2 ** 20 }]);
      expect((await seen())?.quota).toBe(1);
    });

    contract(
      "a data disk is created, detached, attached and deleted, while the VM runs and while it is stopped",
      async () => {
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
          await machine!.restart();
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
      async () => {
        const [boot] = vms().disksOf(id);
        const others = () => vms().disksOf(id).slice(1).map((disk) => disk.id).toSorted();
        for (const state of ["stopped", "running"]) {
          if (state === "running") await vms().boot(id);
          // After a failed growth, a snapshot may be larger than its disk.
          const snapshot = { id: randomUUID(), name: "before", size_bytes: boot!.size_bytes + 2 ** 20 };
          // A guest with the QEMU guest agent may have booted by now.
          const expected = state === "running" ? ["crash", "frozen"] : ["at_rest"];
          expect(expected).toContain(await vms().createSnapshot(id, snapshot, { source_disk_id: boot!.id, signal }));
          // An interrupted job runs again.
          expect(expected).toContain(await vms().createSnapshot(id, snapshot, { source_disk_id: boot!.id, signal }));
          expect(others()).toEqual([snapshot.id]);
          const restored = { ...snapshot, id: randomUUID(), name: "restored" };
          await vms().createDisk(id, restored, { source: { disk_id: snapshot.id }, signal });
          await machine!.restart();
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

    contract("a NIC can be added to a stopped VM and removed from it, but a running VM keeps its NICs", async () => {
      const [nic] = plan.nics;
      const more = { ...nic!, id: randomUUID(), name: "more", mac: "02:00:00:00:00:99", primary_ipv4: "10.0.1.99" };
      const macs = async () => ((await seen())?.nics as { mac: string }[]).map(({ mac }) => mac);
      const wanted = { nics: [nic!, more], subnets: plan.subnets };
      await vms().boot(id);
      expect(vms().newNics(id, wanted)).toEqual([]);
      await vms().setNics(id, wanted);
      expect(await macs()).toEqual([nic!.mac]);
      await vms().halt(id);
      expect(vms().newNics(id, wanted)).toMatchObject([{ id: more.id }]);
      // An interrupted job runs again.
      for (let runs = 0; runs < 2; runs += 1) await vms().setNics(id, wanted);
      expect(vms().newNics(id, wanted)).toEqual([]);
      await machine!.restart();
      await vms().boot(id);
      expect(await macs()).toEqual([nic!.mac, more.mac]);
      expect(vms().hasNic(more.id)).toBe(true);
      await vms().halt(id);
      await vms().setNics(id, plan);
      expect([await macs(), vms().hasNic(more.id)]).toEqual([[nic!.mac], false]);
    });

    contract("a stopped VM gets a new boot disk, and keeps its snapshots and data disks", async () => {
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
      await machine!.restart();
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
    });

    contract("a stopped VM takes a new size", async () => {
      const { cpu, memory_bytes } = plan.instance;
      await vms().setSize(id, { cpu: cpu + 1, memory_bytes: memory_bytes + 2 ** 20 });
      expect(await size()).toEqual({ cpu: cpu + 1, memory_mb: memory_bytes / 2 ** 20 + 1 });
      await vms().setSize(id, { cpu, memory_bytes });
      expect(await size()).toEqual({ cpu, memory_mb: memory_bytes / 2 ** 20 });
      await expect(vms().setSize(randomUUID(), { cpu, memory_bytes })).rejects.toThrow("does not exist");
    });

    contract("a stopped VM can be halted again, and started", async () => {
      await vms().halt(id);
      expect((await seen())?.state).toBe("stopped");
      await vms().boot(id);
      expect((await seen())?.state).toBe("running");
    });

    contract("a running VM keeps its size", async () => {
      const { cpu, memory_bytes } = plan.instance;
      await vms().setSize(id, { cpu: cpu + 1, memory_bytes: memory_bytes * 2 });
      expect(await size()).toEqual({ cpu, memory_mb: memory_bytes / 2 ** 20 });
    });

    contract("of two bindings of a floating IP, the one with the higher generation is current", async () => {
      const floating_ip_id = randomUUID();
      const binding = (generation: number): AddressBinding => ({
        floating_ip_id,
        fip_addr: "203.0.113.9",
        nic_id: plan.nics[0]!.id,
        external_nic_tag: "external",
        vlan_id: null,
        generation,
      });
      const bound = async () =>
        ((await machine!.driver().status()).addresses as Readonly<Record<string, AddressBinding>>)[floating_ip_id];
      await vms().bindAddress(binding(5));
      await vms().bindAddress(binding(4));
      expect((await bound())?.generation).toBe(5);
      await vms().releaseAddress({ floating_ip_id, nic_id: null, generation: 4 });
      await vms().releaseAddress({ floating_ip_id, nic_id: randomUUID(), generation: 5 });
      expect((await bound())?.generation).toBe(5);
      await vms().releaseAddress({ floating_ip_id, nic_id: plan.nics[0]!.id, generation: 5 });
      expect(await bound()).toBeUndefined();
      await expect(vms().bindAddress({ ...binding(6), nic_id: randomUUID() })).rejects.toThrow("does not exist");
      await vms().bindAddress(binding(6));
    });

    contract("after a restart of the agent, the status, the identity and the NICs are unchanged", async () => {
      const before = await machine!.driver().status();
      const { server_uuid } = await machine!.driver().hardware();
      await machine!.restart();
      expect(await machine!.driver().status()).toEqual(before);
      expect((await machine!.driver().hardware()).server_uuid).toBe(server_uuid);
      expect(vms().hasNic(plan.nics[0]!.id)).toBe(true);
    });

    contract("a destroyed VM leaves nothing, and its addresses are released", async () => {
      await vms().destroy(id);
      await vms().destroy(id);
      expect(await seen()).toBeUndefined();
      expect((await machine!.driver().status()).addresses).toEqual({});
      expect(vms().hasNic(plan.nics[0]!.id)).toBe(false);
      expect(vms().usesImage(plan.image!.sha256)).toBe(false);
      expect(vms().disksOf(id)).toEqual([]);
    });

    contract("the capacity contains the pool of the instances, and its values are consistent", async () => {
      const capacity = await machine!.driver().capacity();
      expect(capacity.zpools.map((pool) => pool.name)).toEqual(["zones"]);
      expect(capacity.zpools[0]!.free_bytes).toBeLessThanOrEqual(capacity.zpools[0]!.total_bytes);
      expect(capacity.cpu_threads_logical).toBeGreaterThanOrEqual(capacity.cpu_cores_physical);
      expect(capacity.ram_available_mb!).toBeLessThanOrEqual(capacity.ram_total_mb);
    });
  });
}
