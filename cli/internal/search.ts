// Defines the verb `search`, which finds objects of several kinds by name, address or id.
import { SEARCH_KINDS } from "../../src/contract/enums.ts";
import { SEARCH_HITS_MAX } from "../../src/contract/limits.ts";
import type { SearchHit } from "../../src/contract/search.ts";
import { type AnyCommand, listCommand, option } from "../framework.ts";
import type { Io } from "./io.ts";
import { type Column, ID_COLUMN } from "./table.ts";

const COLUMNS: readonly Column<SearchHit>[] = [
  ["NAME", (hit) => hit.name],
  ["KIND", (hit) => hit.kind],
  ["ID", (hit) => hit.id, ID_COLUMN],
  ["HINT", (hit) => hit.hint],
];

/** The program's function that returns the action of a verb. The action opens an Io and calls `body` with the Io. */
type WithIo = <R extends unknown[]>(body: (io: Io, ...rest: R) => Promise<void>) => (...rest: R) => Promise<void>;

export function search(summary: string, withIo: WithIo): AnyCommand {
  return listCommand("search", summary, "web")
    .argument("<text>", "part of a name, an address or an id")
    .addOption(option("--kind <kind>", "only objects of this kind").choices(SEARCH_KINDS))
    .action(withIo(async (io: Io, text: string, { kind }: { kind?: string }) => {
      const answer = await io.get<{ items: SearchHit[] }>("/v1/search", { q: text, kind, limit: SEARCH_HITS_MAX });
      io.table(answer, answer.items, COLUMNS, "(nothing found)");
      if (answer.items.length === SEARCH_HITS_MAX) io.note("More objects may match; search for a longer text");
    }));
}
