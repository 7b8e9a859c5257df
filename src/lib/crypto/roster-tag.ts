import { createHash } from "node:crypto";
import type { Roster } from "../../contract/boot.ts";
import { canonicalJson } from "../text/canonical-json.ts";

/** The tag has 128 bits, so two different rosters practically never have the same tag. */
const TAG_CHARS = 32;

/**
 * Returns the tag of a roster of declared machines. Equal rosters have equal tags, so the tag is computed and not
 * stored.
 */
export function rosterTag(entries: Roster): string {
  // The entries of a request may have undefined fields, which have no canonical text.
  const text = canonicalJson(JSON.parse(JSON.stringify(entries)));
  return createHash("sha256").update(text).digest("hex").slice(0, TAG_CHARS);
}
