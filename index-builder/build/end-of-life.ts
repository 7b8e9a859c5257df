// Reads from endoflife.date which support cycles of a product have ended. The builder leaves out the releases of these
// cycles. The data never add a release, and their dates are not published.
import { z } from "zod";
import type { Visit } from "../vendor.ts";

export const END_OF_LIFE_HOST = "endoflife.date";
const Product = z.object({
  result: z.object({
    releases: z.array(z.object({ name: z.string(), isEol: z.boolean(), eolFrom: z.string().nullable().optional() })),
  }),
});
export type Cycles = ReadonlyMap<string, boolean>;

/**
 * Reads which cycles have ended. A cycle has also ended if its end date is today or in the past, because endoflife.date
 * may set the flag `isEol` later.
 */
export async function readCycles(visit: Pick<Visit, "json" | "today">, product: string): Promise<Cycles> {
  const { result } = await visit.json(`https://${END_OF_LIFE_HOST}/api/v1/products/${product}`, Product);
  return new Map(result.releases.map(({ name, isEol, eolFrom }) => [
    name,
    isEol || (typeof eolFrom === "string" && eolFrom <= visit.today),
  ]));
}

/** Looks up the cycle named by the token, else by the version, else by its first number. Null for an unknown cycle. */
export function cycleEnded(cycles: Cycles, names: { token: string; version: string | null }): boolean | null {
  const major = names.version?.split(".")[0];
  for (const name of [names.token, names.version, major]) {
    const ended = name === null || name === undefined ? undefined : cycles.get(name);
    if (ended !== undefined) return ended;
  }
  return null;
}
