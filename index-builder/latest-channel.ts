// Creates the channel of a vendor that has only one release in the index, its newest.
import type { Candidate } from "./vendor.ts";

/** Returns the channel "latest". `resolve` finds the release to which it points. */
export function latestChannel(resolve: Candidate["resolve"]): Candidate {
  return {
    token: "latest",
    version: null,
    title: null,
    supported: true,
    eol_date: null,
    lts: false,
    dev: null,
    channel: true,
    resolve,
  };
}
