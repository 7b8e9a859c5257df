// Finds the names and the pages of objects of which the server's answers contain only the ids.
import type { SearchHit } from "../../src/contract/search.ts";
import { get, Refusal } from "./client.ts";
import { pathOf } from "./search.ts";
import type { Query } from "./store.ts";
import { words } from "./text.ts";

/** An object: its kind, in words that underscores or hyphens join, and its id. */
export type Ref = { readonly scope: string; readonly id: string };

/** Names seldom change, so they are read again only after this time, in milliseconds. */
const FRESH_MS = 300_000;
const SHORT_ID_CHARS = 8;

/** The kinds of objects, the most specific first. The most specific object describes an operation best. */
const MOST_SPECIFIC = [
  "instance",
  "disk",
  "image",
  "floating_ip",
  "nat_gateway",
  "route",
  "route_table",
  "nic",
  "subnet",
  "vpc",
  "cn",
  "job",
  "project",
  "tenant",
  "silo",
];

/** Returns the most specific object of a list; undefined if the list is empty. */
export function mostSpecific<R extends Ref>(refs: readonly R[]): R | undefined {
  const rank = ({ scope }: Ref) =>
    (MOST_SPECIFIC.indexOf(scope) + MOST_SPECIFIC.length + 1) % (MOST_SPECIFIC.length + 1);
  return refs.toSorted((a, b) => rank(a) - rank(b))[0];
}

/** Returns the kind of an object as a word: "floating_ip" becomes "floating ip", and "cn" becomes "node". */
export function kindText(scope: string): string {
  return scope === "cn" ? "node" : words(scope);
}

/** Returns the last characters of an id. Ids that were created at the same time begin with the same characters. */
export function shortId(id: string): string {
  return id.length <= SHORT_ID_CHARS ? id : `…${id.slice(-SHORT_ID_CHARS)}`;
}

/**
 * Returns the page that shows an object, or null. A disk and a NIC are on the page of their instance, and a subnet and
 * a route table are on the page of their VPC. The path of a project's page contains the tenant. The instance, the VPC
 * and the tenant come from `others`, the other objects of the same operation.
 */
export function pageOf({ scope, id }: Ref, others: readonly Ref[] = []): string | null {
  const other = (kind: string) => others.find((each) => each.scope === kind)?.id;
  const kind = scope.replaceAll("_", "-");
  const tenant = other("tenant");
  const instance = other("instance");
  const vpc = other("vpc");
  if (kind === "project") return tenant === undefined ? null : `/t/${tenant}/p/${id}/instances`;
  if (kind === "disk" || kind === "nic") return instance === undefined ? null : `/instances/${instance}`;
  if (kind === "subnet" || kind === "route-table") return vpc === undefined ? null : `/vpcs/${vpc}`;
  return pathOf(kind, id);
}

/** Returns the API's path of an object. Null if the kind has no path, or if an id in the path is unknown. */
function objectPath({ scope, id }: Ref, others: readonly Ref[]): string | null {
  const other = (kind: string) => others.find((each) => each.scope === kind)?.id;
  const silo = other("silo");
  const tenant = other("tenant");
  switch (scope) {
    case "cn":
      return `/v1/system/cns/${id}`;
    case "silo":
      return `/v1/silos/${id}`;
    case "tenant":
      return silo === undefined ? null : `/v1/silos/${silo}/tenants/${id}`;
    case "project":
      return tenant === undefined ? null : `/v1/tenants/${tenant}/projects/${id}`;
    case "operation":
    case "instance":
    case "vpc":
    case "subnet":
    case "disk":
      return `/v1/${scope}s/${id}`;
    default:
      return null;
  }
}

/** Returns the name that the search has for an id; null if the search finds no object with this id. */
async function foundName(id: string, signal: AbortSignal): Promise<string | null> {
  const { items } = await get<{ items: SearchHit[] }>("/v1/search", { q: id, limit: 1 }, signal);
  return items.find((hit) => hit.id === id)?.name ?? null;
}

/** The name of one object: a hostname, a name, or the kind of an operation. Null if the name is not known. */
export function nameQuery(ref: Ref, others: readonly Ref[] = []): Query<string | null> {
  const { id } = ref;
  const path = objectPath(ref, others);
  return {
    key: `name of ${path ?? id}`,
    kinds: [],
    fresh_ms: FRESH_MS,
    read: async (signal) => {
      if (path === null) return await foundName(id, signal);
      type Shown = { hostname?: string; name?: string; kind?: string };
      const { hostname, name, kind } = await get<Shown>(path, undefined, signal).catch((error): Shown => {
        // The store keeps this empty result. If the read failed instead, each use of the name would cause another read.
        if (error instanceof Refusal && error.status === 404) return {};
        throw error;
      });
      return hostname ?? name ?? kind ?? null;
    },
  };
}
