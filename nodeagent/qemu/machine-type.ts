// Reads QEMU's machine types, which are versions of the hardware of VMs. A running VM can move only to a QEMU that has
// the VM's type. Each QEMU also has the types of many earlier versions.
import type { Host } from "./host.ts";
import { placesOf } from "./folders.ts";
import { qemuArgv } from "./qemu-argv.ts";
import type { Qmp } from "./qmp.ts";
import { runProgram } from "./run-program.ts";
import type { VmRecord } from "./vm-record.ts";

/** The type of new VMs. Debian 12 has QEMU 7.2, and later QEMUs also have this type. */
export const MACHINE_TYPE = "pc-q35-7.2";

export async function hasMachineType(program: string, type: string): Promise<boolean> {
  const types = await runProgram([program, "-machine", "help"]);
  return types.split("\n").some((line) => line.split(" ")[0] === type);
}

/** Returns the machine type of a running QEMU. */
export async function machineTypeOf(qmp: Qmp): Promise<string> {
  const name = await qmp.execute("qom-get", { path: "/machine", property: "type" });
  return String(name).replace(/-machine$/, "");
}

/** Returns the command line of a VM on this node. A VM whose machine type this node lacks gets the default type. */
export async function argvOn({ program, accelerator, uefi, folders }: Host, vm: VmRecord): Promise<string[]> {
  const { machine_type = null } = vm;
  const is_known = machine_type !== null && await hasMachineType(program, machine_type);
  const started = is_known ? vm : { ...vm, machine_type: null };
  return qemuArgv(started, { program, accelerator, uefi, places: placesOf(folders, vm.id) });
}
