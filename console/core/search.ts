// Finds objects by a text: a hostname, a UUID's beginning, an address, a claim code.
import type { SearchHit } from "../../src/contract/search.ts";
import { get } from "./client.ts";
import { words } from "./text.ts";

export type Hit = {
  readonly id: string;
  readonly title: string;
  readonly hint: string;
  /** The object's page; null if its kind has no page. */
  readonly to: string | null;
};

/** Returns the server's best hits, at most `limit`. */
export async function search(text: string, limit: number, signal: AbortSignal): Promise<readonly Hit[]> {
  const { items } = await get<{ items: SearchHit[] }>("/v1/search", { q: text, limit }, signal);
  return items.map(hitOf);
}

function hitOf({ kind, id, name, hint }: SearchHit): Hit {
  return {
    id,
    title: name,
    hint: [words(kind === "cn" ? "node" : kind), hint ?? ""].join(" "),
    to: pathOf(kind, id),
  };
}

/** Returns the page of an object, or null if its kind has no page. */
export function pathOf(kind: string, id: string): string | null {
  switch (kind) {
    case "cn":
      return `/nodes/${id}`;
    case "instance":
      return `/instances/${id}`;
    case "operation":
      return `/operations/${id}`;
    case "job":
      return `/jobs/${id}`;
    case "silo":
      return `/tenants?q=${id}`;
    case "tenant":
      return `/tenants/${id}`;
    case "external-subnet":
      return `/networks?q=${id}`;
    case "nat-gateway":
      return `/nat-gateways/${id}`;
    case "vpc":
      return `/vpcs/${id}`;
    default:
      return null;
  }
}
