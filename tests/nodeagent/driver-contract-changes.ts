// Defines the driver tests of a VM whose NICs or size change. The first test begins with a stopped VM. The last test
// ends with a running VM.
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { Contract } from "./driver-subject.ts";

export function changesContract(contract: Contract): void {
  contract(
    "a NIC can be added to a stopped VM and removed from it, but a running VM keeps its NICs",
    async ({ machine, plan, id, vms, seen }) => {
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
      // Calls setNics twice, as a job does that was interrupted and runs again.
      for (let runs = 0; runs < 2; runs += 1) await vms().setNics(id, wanted);
      expect(vms().newNics(id, wanted)).toEqual([]);
      await machine.restart();
      await vms().boot(id);
      expect(await macs()).toEqual([nic!.mac, more.mac]);
      expect(vms().hasNic(more.id)).toBe(true);
      await vms().halt(id);
      await vms().setNics(id, plan);
      expect([await macs(), vms().hasNic(more.id)]).toEqual([[nic!.mac], false]);
    },
  );

  contract("a stopped VM takes a new size", async ({ plan, id, vms, size }) => {
    const { cpu, memory_bytes } = plan.instance;
    await vms().setSize(id, { cpu: cpu + 1, memory_bytes: memory_bytes + 2 ** 20 });
    expect(await size()).toEqual({ cpu: cpu + 1, memory_mb: memory_bytes / 2 ** 20 + 1 });
    await vms().setSize(id, { cpu, memory_bytes });
    expect(await size()).toEqual({ cpu, memory_mb: memory_bytes / 2 ** 20 });
    await expect(vms().setSize(randomUUID(), { cpu, memory_bytes })).rejects.toThrow("does not exist");
  });

  contract("a stopped VM can be halted again, and started", async ({ id, vms, seen }) => {
    await vms().halt(id);
    expect((await seen())?.state).toBe("stopped");
    await vms().boot(id);
    expect((await seen())?.state).toBe("running");
  });

  contract("a running VM keeps its size", async ({ plan, id, vms, size }) => {
    const { cpu, memory_bytes } = plan.instance;
    await vms().setSize(id, { cpu: cpu + 1, memory_bytes: memory_bytes * 2 });
    expect(await size()).toEqual({ cpu, memory_mb: memory_bytes / 2 ** 20 });
  });
}
