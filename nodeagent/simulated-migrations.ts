// Simulates migrations of VMs. The source sends only the VM's state, over the same kind of connection as a real VM. The
// target creates the record of the VM from the job's plan.
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import type { Migrations, Moving } from "./migration/migrations.ts";
import type { InventoryStore, SimulatedVm } from "./simulated-vms.ts";
import type { Vms } from "./driver.ts";

export function simulatedMigrations(store: InventoryStore, vms: Vms): Migrations {
  const find = (id: string) => store.read().vms[id];
  const put = (vm: SimulatedVm) => store.write({ vms: { ...store.read().vms, [vm.uuid]: vm } });

  /** Returns the VM if this migration is moving it to this node. */
  function arriving({ instance_id, migration_id }: Pick<Moving, "instance_id" | "migration_id">) {
    const vm = find(instance_id);
    return vm?.move?.role === "arriving" && vm.move.migration_id === migration_id ? vm : undefined;
  }

  function leaving({ instance_id }: Moving): SimulatedVm {
    const vm = find(instance_id);
    if (vm === undefined || vm.move?.role === "arriving") {
      throw new Failure(`VM ${instance_id} does not exist`, EXIT.not_found);
    }
    return vm;
  }

  return {
    receive: async (plan, moving, ticket_sha256) => {
      const { id } = plan.instance;
      if (find(id) !== undefined && arriving(moving) === undefined) {
        throw new Failure(`VM ${id} is on this node already`, EXIT.conflict);
      }
      await vms.createDisks(plan, { role: "arriving", migration_id: moving.migration_id, ticket_sha256 });
      await vms.createNics(plan);
      await vms.create(plan);
    },
    ticketOf: (instance_id, migration_id) => {
      const move = arriving({ instance_id, migration_id })?.move;
      return move?.role === "arriving" ? move.ticket_sha256 : null;
    },
    awaits: () => Object.values(store.read().vms).some(({ move }) => move?.role === "arriving"),
    serve: async (moving, { request, state }) => {
      const vm = arriving(moving);
      if (vm === undefined || request !== "machine" || state !== "running" && state !== "stopped") {
        throw new Failure("a simulated machine receives only simulated VMs", EXIT.failure);
      }
      await put({ ...vm, state });
      return { answer: { received: true } };
    },
    send: async (moving, link, { isWanted }) => {
      const vm = leaving(moving);
      if (moving.live !== (vm.state === "running")) throw new Failure(`VM ${vm.uuid} is ${vm.state}`, EXIT.conflict);
      if (vm.move?.role === "departed" && vm.move.migration_id === moving.migration_id) return { sent_bytes: 0 };
      await isWanted();
      await link.ask({ request: "machine", state: vm.state });
      await put({ ...vm, move: { role: "departed", migration_id: moving.migration_id } });
      return { sent_bytes: 0 };
    },
    resume: async ({ instance_id, migration_id }) => {
      const vm = find(instance_id);
      if (vm?.move?.role === "departed" && vm.move.migration_id === migration_id) await put({ ...vm, move: null });
    },
    activate: async (moving) => {
      const vm = arriving(moving);
      if (vm !== undefined) await put({ ...vm, move: null });
      return { state: find(moving.instance_id)?.state ?? "gone" };
    },
    discard: async (moving) => {
      if (arriving(moving) !== undefined) await vms.destroy(moving.instance_id);
    },
    clean: async ({ instance_id, migration_id }) => {
      const vm = find(instance_id);
      if (vm?.move?.role === "departed" && vm.move.migration_id === migration_id) await vms.destroy(instance_id);
    },
  };
}
