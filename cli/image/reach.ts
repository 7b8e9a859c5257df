// Decides which private addresses this program may fetch from: the address of the index, and the networks in
// BERTH_FETCH_ALLOWED_PRIVATE. `opsctl image import` may also fetch from the networks in the control plane's setting
// `fetch.allowed_private`. The program refuses other private addresses in index documents and redirects.
import { namedOrigins, type Reach } from "../../src/outbound/connector.ts";
import { parseCidr } from "../../src/lib/net/ip-address.ts";
import { readRanges } from "../../src/lib/net/public-address.ts";
import { usageFailure } from "../internal/failure.ts";
import type { Environment } from "../internal/environment.ts";

export const RANGES_VARIABLE = "BERTH_FETCH_ALLOWED_PRIVATE";

export type Given = {
  /** URLs that the user entered. */
  readonly named: readonly string[];
  /** Networks that the operator of a control plane allows. */
  readonly allowed: readonly unknown[];
};

/** Returns the addresses that may be fetched. Throws a Failure when the variable is not a list of networks. */
export function reachOf({ env }: Environment, { named, allowed }: Given): Reach {
  return {
    allowed: readRanges([...rangesOf(env[RANGES_VARIABLE] ?? ""), ...allowed]),
    named: namedOrigins(named),
  };
}

/** Parses a JSON array, as in the control plane's variable, or networks separated by commas. */
function rangesOf(text: string): readonly unknown[] {
  const ranges = text.trim().startsWith("[") ? jsonList(text) : text.split(",").map((each) => each.trim());
  const given = ranges.filter((each) => each !== "");
  if (given.some((each) => typeof each !== "string" || parseCidr(each) === null)) {
    throw usageFailure(`${RANGES_VARIABLE} must be a list of networks such as ["10.20.0.0/16", "fd00::/8"]`);
  }
  return given;
}

function jsonList(text: string): readonly unknown[] {
  try {
    return JSON.parse(text);
  } catch {
    throw usageFailure(`${RANGES_VARIABLE} must be a JSON array or a list separated by commas`);
  }
}
