// Finds the nodes whose long poll for network documents has an answer. A sweep reads only the changes that the previous
// sweep did not see, so one index lookup serves all polls without a change. For a node whose poll began after the
// previous sweep, the sweep compares all documents once (docs/networking.md, "Network documents").
import { listChangedVpcs, listVpcsOfNodes, type VpcOfNode } from "./network-content.ts";
import { listAskedNodes } from "./network-traces.ts";
import type { Db } from "./pool.ts";
import { FOLD_AGE_S } from "./realizations.ts";

/** The generation of each document that a node stores, by VPC id. */
export type Have = Readonly<Record<string, number>>;

export type NetworkWatch = {
  /** Records what a node stores, and whether it answers packet traces. Call it before the poll reads the database. */
  note(server_uuid: string, have: Have, answers_traces?: boolean): void;
  /**
   * Returns the given nodes whose documents changed, and the given nodes that answer packet traces and have an open
   * question.
   */
  sweep(server_uuids: readonly string[]): Promise<Map<string, { readonly changed: true }>>;
};

/**
 * A sweep after a pause of more than half of FOLD_AGE_S compares all documents. Without this comparison, the sweep
 * could miss a change, because changes that are older than FOLD_AGE_S are folded into one row.
 */
const PAUSE_MAX_MS = FOLD_AGE_S * 1_000 / 2;

export function createNetworkWatch(db: Db, now_ms: () => number): NetworkWatch {
  const stored = new Map<string, Have>();
  /** The nodes whose agent answers packet traces. */
  const answering = new Set<string>();
  let compared = new Set<string>();
  /** The nodes that were noted during the current sweep. */
  let noted = new Set<string>();
  let xmin: string | null = null;
  let swept_ms = 0;

  async function sweep(server_uuids: readonly string[]): Promise<Map<string, { readonly changed: true }>> {
    if (now_ms() - swept_ms > PAUSE_MAX_MS) compared = new Set();
    swept_ms = now_ms();
    noted = new Set();
    const [known, fresh] = [true, false].map((is) => server_uuids.filter((node) => compared.has(node) === is));
    // This read comes before the comparison below. The comparison then sees each change that the next sweep omits.
    const since = await listChangedVpcs(db, known!.length === 0 ? null : xmin);
    const found: VpcOfNode[] = [];
    if (since.changed.length > 0 && known!.length > 0) {
      found.push(...await listVpcsOfNodes(db, known!, since.changed));
    }
    const whole = new Map<string, string[]>();
    if (fresh!.length > 0) {
      for (const row of await listVpcsOfNodes(db, fresh!)) {
        found.push(row);
        whole.set(row.server_uuid, [...whole.get(row.server_uuid) ?? [], row.vpc_id]);
      }
    }
    xmin = since.xmin;
    compared = new Set(server_uuids.filter((node) => !noted.has(node)));
    const changed = new Set(found.filter(isNews).map(({ server_uuid }) => server_uuid));
    // A node also has a change if it stores a VPC that the database does not list for the node.
    for (const node of fresh!) {
      const listed = new Set(whole.get(node));
      if (Object.keys(stored.get(node) ?? {}).some((vpc_id) => !listed.has(vpc_id))) changed.add(node);
    }
    if (answering.size > 0) {
      const waiting = new Set(server_uuids);
      for (const node of await listAskedNodes(db)) if (waiting.has(node) && answering.has(node)) changed.add(node);
    }
    return new Map([...changed].map((node) => [node, { changed: true }]));
  }

  function isNews({ server_uuid, vpc_id, generation }: VpcOfNode): boolean {
    const have = stored.get(server_uuid)?.[vpc_id];
    return generation === null ? have !== undefined : have === undefined || have < generation;
  }

  return {
    note(server_uuid, have, answers_traces = false) {
      if (answers_traces) answering.add(server_uuid);
      else answering.delete(server_uuid);
      stored.set(server_uuid, have);
      compared.delete(server_uuid);
      noted.add(server_uuid);
    },
    sweep,
  };
}
