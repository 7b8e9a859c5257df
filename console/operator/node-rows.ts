// Queries the list of nodes. The server searches and sorts the list, and returns one window of it.
import type { NodeRow } from "../../src/contract/node-window.ts";
import { get } from "../core/client.ts";
import type { Query } from "../core/store.ts";
import type { Window } from "../parts/lists.tsx";

export type NodeFilter = { readonly q: string; readonly state: string; readonly sort: string };

/** The feed does not report heartbeats, so nodes are read again after this time, in milliseconds. */
export const NODES_FRESH_MS = 5_000;
/**
 * The page reads the first two windows at once. It reads a later window only if the window stays on screen for this
 * time, in milliseconds. So a fast scroll does not read each window that it passes.
 */
const REST_MS = 80;
const NEAR_ROWS = 200;

export function nodeWindow({ q, state, sort }: NodeFilter, offset: number, limit: number): Query<Window<NodeRow>> {
  return {
    key: `nodes ${q} ${state} ${sort} ${offset} ${limit}`,
    kinds: ["cn"],
    rest_ms: offset < NEAR_ROWS ? 0 : REST_MS,
    fresh_ms: NODES_FRESH_MS,
    read: (signal) => get<Window<NodeRow>>("/v1/system/nodes", { q, state, sort, offset, limit }, signal),
  };
}

/** Returns the inventory of a machine as an object; empty without an inventory. */
export function inventory(sysinfo: unknown): Readonly<Record<string, unknown>> {
  // The inventory can be any JSON; the members of an object are unknown until they are checked.
  return typeof sysinfo === "object" && sysinfo !== null ? sysinfo as Record<string, unknown> : {};
}
