// Finds a record that has no name by a prefix of its id. A table on a terminal shows only such a prefix.
import { SEARCH_HITS_MAX } from "../../src/contract/limits.ts";
import type { SearchHit } from "../../src/contract/search.ts";
import { usageFailure } from "./failure.ts";
import type { Io } from "./io.ts";
import { isIdPrefix, isUuid, pickRecord, type RecordKind } from "./record-name.ts";

/** A kind of record that the server's search finds by its id. */
export type SearchedKind = Pick<RecordKind<SearchHit>, "one" | "many" | "list"> & { readonly kind: SearchHit["kind"] };

/** Returns the UUID. A complete UUID needs no request. Throws a Failure unless exactly one id begins with the text. */
export async function resolveId(io: Io, text: string, { kind, ...names }: SearchedKind): Promise<string> {
  if (isUuid(text)) return text.toLowerCase();
  const found = isIdPrefix(text)
    ? (await io.get<{ items: SearchHit[] }>("/v1/search", { q: text, kind, limit: SEARCH_HITS_MAX })).items
    : [];
  // The search limits the number of its hits, so an id could be missing.
  if (found.length === SEARCH_HITS_MAX) {
    throw usageFailure(`${text} is the beginning of many ids; write more of the id`);
  }
  // A server of an earlier release does not know the parameter, and returns hits of all kinds.
  const hits = found.filter((hit) => hit.kind === kind);
  return pickRecord(hits, text, { ...names, id: ({ id }) => id, title: ({ name, hint }) => `${name} ${hint ?? ""}` })
    .id;
}
