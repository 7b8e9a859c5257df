// Prints a note about a block with host bits, because the server clears them and so stores another text.
import type { Io } from "../internal/io.ts";
import { parseIp } from "../../src/lib/net/ip-address.ts";
import { blockText, parseBlock } from "../../src/lib/net/ip-block.ts";

/** Prints a note for each block with host bits, such as 10.0.2.5/24, because the user may mean another network. */
export function noteHostBits(io: Pick<Io, "note">, noun: string, blocks: readonly (string | undefined)[]): void {
  for (const text of blocks) {
    const block = text === undefined ? null : parseBlock(text);
    const address = parseIp(text?.split("/")[0] ?? "");
    if (text === undefined || block === null || address === null || address.value === block.network) continue;
    io.note(`note: ${text} has host bits; the block of the ${noun} is ${blockText(block)}`);
  }
}
