import type { ApiKeyView } from "../../src/contract/api-key.ts";
import type { Io } from "./io.ts";
import { isIdPrefix, isUuid, pickRecord } from "./record-name.ts";

type Keys = {
  /** Path of the keys among which the id is looked up. */
  readonly path: string;
  /** The command that lists these keys. */
  readonly list: string;
};

/** Finds an API key by its id or a unique prefix of the id, and returns the id. A complete id needs no request. */
export async function resolveKeyId(io: Io, text: string, { path, list }: Keys): Promise<string> {
  if (isUuid(text)) return text.toLowerCase();
  // The server refuses to list very many keys, so the query contains the prefix. Older servers ignore the prefix.
  const query = isIdPrefix(text) ? { id_prefix: text.toLowerCase() } : undefined;
  return pickRecord(await io.get<ApiKeyView[]>(path, query), text, {
    one: "API key",
    many: "API keys",
    list,
    id: ({ id }) => id,
    title: ({ description }) => description,
  }).id;
}
