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

/** The text, the limit and the filters of a search. */
export type SearchQuery = {
  readonly q: string;
  readonly limit: number;
  /** Only objects of this tenant; null: objects of all tenants, and of the fleet. */
  readonly tenant_id: string | null;
  /** Only objects of this kind; null: all kinds. */
  readonly kind: SearchHit["kind"] | null;
};
