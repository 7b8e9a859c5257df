// Document 3, Tenant CLI: the words of --family.
import type { AddressFamily } from "../../src/contract/enums.ts";
import { usageFailure } from "../internal/failure.ts";

const FAMILIES = { ipv4: "v4", v4: "v4", ipv6: "v6", v6: "v6" } as const satisfies Record<string, AddressFamily>;

export const FAMILY_WORDS = ["ipv4", "v4", "ipv6", "v6"] as const;
export type FamilyWord = (typeof FAMILY_WORDS)[number];

export function familyOf(word: FamilyWord): AddressFamily {
  return FAMILIES[word];
}

/** Takes upper case too. */
export function familyWord(text: string): FamilyWord {
  const word = FAMILY_WORDS.find((each) => each === text.toLowerCase());
  if (word === undefined) throw usageFailure(`--family is one of ${FAMILY_WORDS.join(", ")}, not ${text}`);
  return word;
}
