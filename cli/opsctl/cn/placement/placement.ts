import type { CnPlacement } from "../../../../src/contract/cn-placement.ts";
import { labelText } from "../../../internal/labels.ts";
import type { Io } from "../../../internal/io.ts";
import { blockText } from "../../../internal/table.ts";
import { resolveNode } from "../../node-name.ts";

export async function placementPath(io: Io, name: string): Promise<string> {
  return `/v1/cns/${await resolveNode(io, name)}/placement`;
}

export function printPlacement(io: Io, placement: CnPlacement): void {
  const factor = (value: number | null) => value ?? "(cluster default)";
  const text = blockText([
    ["reserved", placement.reserved],
    ["reserved_reason", placement.reserved_reason],
    ["cordoned", placement.cordoned],
    ["cordoned_reason", placement.cordoned_reason],
    ["overprovision_cpu", factor(placement.overprovision_cpu)],
    ["overprovision_ram", factor(placement.overprovision_ram)],
    ["overprovision_disk", factor(placement.overprovision_disk)],
    ["fault_domain", placement.fault_domain],
    ["pinned_silo_uuid", placement.pinned_silo_uuid],
    ["pinned_tenant_uuid", placement.pinned_tenant_uuid],
    ["note", placement.note],
    ["labels", labelText(placement.labels) || null],
  ]);
  io.print(placement, text);
}
