// Defines the schemas of the search for objects of several kinds.
import { z } from "zod";
import { SEARCH_KINDS } from "./enums.ts";

/** An object that a search found. */
export const SearchHit = z.object({
  kind: z.enum(SEARCH_KINDS),
  id: z.string(),
  name: z.string(),
  hint: z.string().nullable().describe(
    "An address, a state, a claim code or a tenant's silo, to distinguish hits with the same name",
  ),
});
export type SearchHit = z.infer<typeof SearchHit>;

/** The hits of a search, the best first. */
export const SearchHits = z.object({ items: z.array(SearchHit) });
