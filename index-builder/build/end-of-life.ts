// endoflife.date says which cycles of a product have ended. It only removes: it never adds a release and its dates are
// never published.
import { z } from "zod";
import type { Visit } from "../vendor.ts";

export const END_OF_LIFE_HOST = "endoflife.date";
const Product = z.object({
  result: z.object({
    releases: z.array(z.object({ name: z.string(), isEol: z.boolean(), eolFrom: z.string().nullable().optional() })),
  }),
});
export type Cycles = ReadonlyMap<string, boolean>;

/** Cycle to whether it has ended. The date counts on its own, since it passes before the flag is turned. */
export async function readCycles(visit: Pick<Visit, "json" | "today">, product: string): Promise<Cycles> {
  const { result } = await visit.json(`https://${END_OF_LIFE_HOST}/api/v1/products/${product}`, Product);
  return new Map(result.releases.map(({ name, isEol, eolFrom }) => [
    name,
    isEol || (typeof eolFrom === "string" && eolFrom <= visit.today),
  ]));
}

/** The first cycle that is the token, the version, or the version's part before its first dot. Null when none is. */
export function cycleEnded(cycles: Cycles, names: { token: string; version: string | null }): boolean | null {
  const major = names.version?.split(".")[0];
  for (const name of [names.token, names.version, major]) {
    const ended = name === null || name === undefined ? undefined : cycles.get(name);
    if (ended !== undefined) return ended;
  }
  return null;
}
