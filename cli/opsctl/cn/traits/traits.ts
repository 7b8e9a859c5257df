import type { Traits } from "../../../../src/contract/setup.ts";
import { usageFailure } from "../../../internal/failure.ts";
import type { Io } from "../../../internal/io.ts";
import { tableText } from "../../../internal/table.ts";
import { resolveNode } from "../../node-name.ts";

/** Reads the traits of a node, changes them and writes them back. */
export async function changeTraits(io: Io, name: string, change: (traits: Traits["traits"]) => Traits["traits"]) {
  const path = await traitsPath(io, name);
  const { traits } = await io.get<Traits>(path);
  const body: Traits = { traits: change(traits) };
  printTraits(io, await io.post<Traits>(path, body));
}

/** Splits `rack=r12` into name and value. */
export function pairOf(word: string): [key: string, value: string] {
  const at = word.indexOf("=");
  if (at < 1 || at === word.length - 1) throw usageFailure(`${word} must be TRAIT=VALUE, for example rack=r12`);
  return [word.slice(0, at), word.slice(at + 1)];
}

export async function traitsPath(io: Io, name: string): Promise<string> {
  return `/v1/cns/${await resolveNode(io, name)}/traits`;
}

export function printTraits(io: Io, answer: Traits): void {
  const rows = Object.entries(answer.traits).sort(([a], [b]) => a < b ? -1 : 1);
  const columns = [["TRAIT", ([key]: string[]) => key], ["VALUE", ([, value]: string[]) => value]] as const;
  io.print(answer, rows.length === 0 ? "(no traits)" : tableText(columns, rows));
}
