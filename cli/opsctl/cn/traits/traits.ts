import type { Traits } from "../../../../src/contract/setup.ts";
import type { Io } from "../../../kit/io.ts";
import { tableText } from "../../../kit/table.ts";
import { resolveNode } from "../../node-name.ts";

/** Reads the traits of a node, makes new ones of them, and puts those in their place. */
export async function changeTraits(io: Io, name: string, change: (held: Traits["traits"]) => Traits["traits"]) {
  const path = await traitsPath(io, name);
  const { traits } = await io.get<Traits>(path);
  const body: Traits = { traits: change(traits) };
  printTraits(io, await io.post<Traits>(path, body));
}

export async function traitsPath(io: Io, name: string): Promise<string> {
  return `/v1/cns/${await resolveNode(io, name)}/traits`;
}

export function printTraits(io: Io, answer: Traits): void {
  const rows = Object.entries(answer.traits).sort(([a], [b]) => a < b ? -1 : 1);
  const columns = [["TRAIT", ([key]: string[]) => key], ["VALUE", ([, value]: string[]) => value]] as const;
  io.print(answer, rows.length === 0 ? "(no traits)" : tableText(columns, rows));
}
