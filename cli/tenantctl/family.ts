// Parses the values of --family.
import type { AddressFamily } from "../../src/contract/enums.ts";
import { usageFailure } from "../internal/failure.ts";

const FAMILIES = { ipv4: "v4", v4: "v4", ipv6: "v6", v6: "v6" } as const satisfies Record<string, AddressFamily>;

export const FAMILY_NAMES = ["ipv4", "v4", "ipv6", "v6"] as const;
export type FamilyName = (typeof FAMILY_NAMES)[number];

export function familyOf(word: FamilyName): AddressFamily {
  return FAMILIES[word];
}

/** Parses a family in any case. */
export function parseFamily(text: string): FamilyName {
  const word = FAMILY_NAMES.find((each) => each === text.toLowerCase());
  if (word === undefined) throw usageFailure(`--family must be one of ${FAMILY_NAMES.join(", ")}, not ${text}`);
  return word;
}
