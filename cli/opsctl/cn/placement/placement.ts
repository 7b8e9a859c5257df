import type { CnPlacement } from "../../../../src/contract/cn-placement.ts";
import type { Io } from "../../../internal/io.ts";
import { blockText } from "../../../internal/table.ts";
import { resolveNode } from "../../node-name.ts";

export async function placementPath(io: Io, name: string): Promise<string> {
  return `/v1/cns/${await resolveNode(io, name)}/placement`;
}

export function printPlacement(io: Io, held: CnPlacement): void {
  const factor = (value: number | null) => value ?? "(cluster default)";
  const argv = blockText([
    ["reserved", held.reserved],
    ["reserved_reason", held.reserved_reason],
    ["cordoned", held.cordoned],
    ["cordoned_reason", held.cordoned_reason],
    ["overprovision_cpu", factor(held.overprovision_cpu)],
    ["overprovision_ram", factor(held.overprovision_ram)],
    ["overprovision_disk", factor(held.overprovision_disk)],
    ["fault_domain", held.fault_domain],
    ["pinned_silo_uuid", held.pinned_silo_uuid],
    ["pinned_tenant_uuid", held.pinned_tenant_uuid],
    ["note", held.note],
  ]);
  io.print(held, argv);
}
