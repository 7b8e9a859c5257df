// The machine and the VM that the tests of driver-contract.ts use.
import type { Driver, VmPlan } from "../../nodeagent/driver.ts";

export type ContractMachine = {
  driver(): Driver;
  /** Opens the driver again, as a restarted agent does. */
  restart(): Promise<Driver>;
  /** Returns a plan for a new instance. */
  plan(): Promise<VmPlan>;
  remove(): Promise<void>;
};

/** The state of a VM in the status that the driver reports. */
type Seen = { readonly state: string; readonly quota: number; readonly nics: readonly unknown[] };

export type Subject = {
  readonly machine: ContractMachine;
  /** The plan of the VM that all tests share. */
  readonly plan: VmPlan;
  /** The VM's id. */
  readonly id: string;
  /** The VMs of the driver that is open now: a restart opens a new driver. */
  vms(): Driver["vms"];
  seen(): Promise<Seen | undefined>;
  size(): Promise<{ readonly cpu: number; readonly memory_mb: number | undefined }>;
};

/** Registers a test of the behaviour that every driver must have. */
export type Contract = (title: string, body: (subject: Subject) => Promise<void>) => void;

export async function openSubject(machine: ContractMachine): Promise<Subject> {
  const plan = await machine.plan();
  const { id } = plan.instance;
  const statusOf = async <Status>() =>
    ((await machine.driver().status()).vms as Readonly<Record<string, Status | undefined>>)[id];
  return {
    machine,
    plan,
    id,
    vms: () => machine.driver().vms,
    seen: () => statusOf<Seen>(),
    size: async () => {
      const { cpu_cap, max_physical_memory } = (await statusOf<Readonly<Record<string, number>>>())!;
      return { cpu: cpu_cap! / 100, memory_mb: max_physical_memory };
    },
  };
}
