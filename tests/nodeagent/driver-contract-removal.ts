// Defines the driver tests of floating IPs, of a restart of the agent, and of the removal of the VM.
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { AddressBinding } from "../../nodeagent/driver.ts";
import type { Contract } from "./driver-subject.ts";

export function removalContract(contract: Contract): void {
  contract(
    "of two bindings of a floating IP, the one with the higher generation is current",
    async ({ machine, plan, vms }) => {
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
        ((await machine.driver().status()).addresses as Readonly<Record<string, AddressBinding>>)[floating_ip_id];
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
    },
  );

  contract(
    "after a restart of the agent, the status, the identity and the NICs are unchanged",
    async ({ machine, plan, vms }) => {
      const before = await machine.driver().status();
      const { server_uuid } = await machine.driver().hardware();
      await machine.restart();
      expect(await machine.driver().status()).toEqual(before);
      expect((await machine.driver().hardware()).server_uuid).toBe(server_uuid);
      expect(vms().hasNic(plan.nics[0]!.id)).toBe(true);
    },
  );

  contract(
    "a destroyed VM leaves nothing, and its addresses are released",
    async ({ machine, plan, id, vms, seen }) => {
      await vms().destroy(id);
      await vms().destroy(id);
      expect(await seen()).toBeUndefined();
      expect((await machine.driver().status()).addresses).toEqual({});
      expect(vms().hasNic(plan.nics[0]!.id)).toBe(false);
      expect(vms().usesImage(plan.image!.sha256)).toBe(false);
      expect(vms().disksOf(id)).toEqual([]);
    },
  );

  contract(
    "the capacity report contains the storage pool of the instances, and its values are consistent",
    async ({ machine }) => {
      const capacity = await machine.driver().capacity();
      expect(capacity.zpools.map((pool) => pool.name)).toEqual(["zones"]);
      expect(capacity.zpools[0]!.free_bytes).toBeLessThanOrEqual(capacity.zpools[0]!.total_bytes);
      expect(capacity.cpu_threads_logical).toBeGreaterThanOrEqual(capacity.cpu_cores_physical);
      expect(capacity.ram_available_mb!).toBeLessThanOrEqual(capacity.ram_total_mb);
    },
  );
}
