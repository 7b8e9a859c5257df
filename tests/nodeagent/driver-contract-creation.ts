// Defines the driver tests of a new VM: its creation, its first boot, and what the driver reports about a running VM.
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { MachineMetrics } from "../../src/contract/instance-metrics.ts";
import { isPng } from "../../src/lib/console/png.ts";
import type { Contract } from "./driver-subject.ts";

export function creationContract(contract: Contract): void {
  contract("an unknown VM can be halted and destroyed, but not booted or resized", async ({ vms }) => {
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
    async ({ plan, id, vms, seen }) => {
      expect(vms().usesImage(plan.image!.sha256)).toBe(false);
      await vms().createDisks(plan);
      await vms().createDisks(plan);
      expect(vms().disksOf(id)).toEqual(plan.disks.map(({ id, size_bytes }) => ({ id, size_bytes })));
      expect(vms().usesImage(plan.image!.sha256)).toBe(true);
      expect(await seen()).toMatchObject({ state: "provisioning", nics: [] });
    },
  );

  contract(
    "a repeated creation of NICs changes nothing, and the driver then knows the NICs",
    async ({ plan, vms, seen }) => {
      const [nic] = plan.nics;
      expect(vms().hasNic(nic!.id)).toBe(false);
      await vms().createNics(plan);
      await vms().createNics(plan);
      expect(vms().hasNic(nic!.id)).toBe(true);
      expect((await seen())?.nics).toMatchObject([{ id: nic!.id, mac: nic!.mac, addresses: ["10.0.1.5"] }]);
    },
  );

  contract("a created VM is provisioning until its first boot, and then runs", async ({ plan, id, vms, seen }) => {
    await vms().create(plan);
    await vms().create(plan);
    expect((await seen())?.state).toBe("provisioning");
    await vms().boot(id);
    await vms().boot(id);
    expect((await seen())?.state).toBe("running");
  });

  contract("a running VM has metrics", async ({ machine, id }) => {
    const found = (await machine.driver().metrics())[id];
    // The server ignores metrics that its schema refuses.
    expect(MachineMetrics.parse(found)).toEqual(found);
    expect(found!.memory_bytes).toBeGreaterThan(2 ** 20);
  });

  contract(
    "a screenshot of a running VM is a PNG file, and a reset VM still runs",
    async ({ machine, id, vms, seen }) => {
      expect(isPng(await machine.driver().screenshot(id))).toBe(true);
      await vms().reset(id);
      expect((await seen())?.state).toBe("running");
    },
  );

  contract("an unchanged machine has an unchanged status", async ({ machine }) => {
    expect(await machine.driver().status()).toEqual(await machine.driver().status());
  });
}
