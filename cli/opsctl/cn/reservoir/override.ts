// Sends a reservoir override and prints it. Both fields are always sent; null inherits the cluster default.
import type { CnReservoirBody, CnReservoirView } from "../../../../src/contract/cn.ts";
import type { Io } from "../../../internal/io.ts";
import { blockText } from "../../../internal/table.ts";
import { resolveNode } from "../../node-name.ts";

export async function sendOverride(io: Io, name: string, body: Required<CnReservoirBody>): Promise<void> {
  const view = await io.post<CnReservoirView>(`/v1/cns/${await resolveNode(io, name)}/reservoir`, body);
  io.print(view, overrideText(view));
}

function overrideText(view: CnReservoirView): string {
  return blockText([
    ["reservoir_enabled", view.reservoir_enabled ?? "(inherit)"],
    ["reservoir_percent", view.reservoir_percent ?? "(inherit)"],
    ["effective_enabled", view.effective_enabled],
    ["effective_percent", view.effective_percent],
  ]);
}
