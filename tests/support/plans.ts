// Runs queries with EXPLAIN. The plans show which tables the queries read, and how.
import type { Db, DbClient } from "../../src/db/pool.ts";

export type PlanNode = {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Actual Loops": number;
  readonly "Actual Rows": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
};

const SCAN = /^(?:Seq Scan|Bitmap Heap Scan|Index Scan|Index Only Scan)$/;

/**
 * Returns a connection that runs each query with EXPLAIN ANALYZE and adds its plan to `plans`. The connection returns
 * no rows.
 */
export function explained(db: Db): { readonly db: Db; readonly plans: PlanNode[] } {
  const plans: PlanNode[] = [];
  const query: DbClient["query"] = async (sql, values) => {
    const { rows } = await db.query(`explain (analyze, timing off, format json) ${sql}`, values);
    plans.push((rows[0] as { "QUERY PLAN": [{ Plan: PlanNode }] })["QUERY PLAN"][0].Plan);
    return { rows: [], rowCount: 0 } as never;
  };
  return { db: { ...db, query }, plans };
}

/** Returns the nodes of a plan that read a table. */
export const scansOf = (node: PlanNode): readonly PlanNode[] => [
  ...SCAN.test(node["Node Type"]) && node["Relation Name"] !== undefined ? [node] : [],
  ...(node.Plans ?? []).flatMap(scansOf),
];

/** Returns the tables that the plans read. `again` lists the tables that one plan reads completely more than once. */
export function tablesRead(plans: readonly PlanNode[]) {
  const scans = plans.flatMap(scansOf);
  const names = (some: readonly PlanNode[]) => [...new Set(some.map((scan) => scan["Relation Name"]!))].sort();
  return {
    tables: names(scans),
    again: names(scans.filter((scan) => scan["Node Type"] === "Seq Scan" && scan["Actual Loops"] > 1)),
  };
}
