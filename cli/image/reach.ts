// Where this program may fetch from beyond public addresses: the index that its user names, and the networks of
// BERTH_FETCH_ALLOWED_PRIVATE, the variable that shadows the control plane's setting `fetch.allowed_private`. What an index
// document or a redirect names is somebody else's choice.
import { namedOrigins, type Reach } from "../../src/outbound/connector.ts";
import { parseCidr } from "../../src/lib/net/ip-address.ts";
import { readRanges } from "../../src/lib/net/public-address.ts";
import { usageFailure } from "../internal/failure.ts";
import type { Environment } from "../internal/environment.ts";

export const RANGES_VARIABLE = "BERTH_FETCH_ALLOWED_PRIVATE";

export type Given = {
  /** URLs that the user wrote. */
  readonly named: readonly string[];
  /** Networks that the operator of a control plane allows. */
  readonly allowed: readonly unknown[];
};

/** Throws a Failure when the variable holds something else than networks. */
export function reachOf({ env }: Environment, { named, allowed }: Given): Reach {
  return {
    allowed: readRanges([...rangesOf(env[RANGES_VARIABLE] ?? ""), ...allowed]),
    named: namedOrigins(named),
  };
}

/** A JSON array, as the control plane's variable, or networks with commas between. */
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
    throw usageFailure(`${RANGES_VARIABLE} is neither a JSON array nor a list with commas`);
  }
}
