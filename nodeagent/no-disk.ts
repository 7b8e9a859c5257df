import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";

/** The failure of an operation on a disk that the VM does not have. */
export function noDisk(vm_id: string, disk_id: string): Failure {
  return new Failure(`VM ${vm_id} has no disk ${disk_id}`, EXIT.not_found);
}
