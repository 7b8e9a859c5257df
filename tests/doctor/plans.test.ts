// Tests that PostgreSQL can run the doctor's checks without reading whole tables of a site's objects. Most exceptions
// compare counters with everything that they count (tests/bench/README.md, "Cost and age").
import { afterAll, beforeAll, expect, test } from "vitest";
import { behaviors } from "../../actors/registry.ts";
import type { DbClient } from "../../src/db/pool.ts";
import { CONDITIONS } from "../../src/doctor/conditions.ts";
import { invariants } from "../../src/doctor/invariants.ts";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";

/** The tables of a site's objects. On a large site, they have many rows. */
const LARGE: readonly string[] = ["instance", "nic", "disk", "route"];
/** The index contains only the few NICs that have additional addresses. */
const SMALL_INDEX = "nic_with_additional_ips";
/** The checks that read whole tables, with these tables. */
const WHOLE: Readonly<Record<string, readonly string[]>> = {
  "a node's counted use equals the sum over its instances and the instances that move to or from it": [
    "disk",
    "instance",
  ],
  "a node's count of a tenant's instances equals the number that it hosts": ["instance"],
  "a project's counted use equals the sum over its instances": ["disk", "instance"],
  "the free and the used addresses of a pool add up to its size": ["nic"],
  "an ended operation has released its instance": ["instance"],
  // This check reads the whole table only while the table is as small as in this test.
  "each missing record has a transition that deleted it": ["instance"],
};

type Plan = {
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly Plan[];
};

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
});
afterAll(() => t?.close());

/** Lists the tables of LARGE that a plan reads without a condition on an index. */
function wholeIn(plan: Plan): string[] {
  const table = plan["Relation Name"];
  const is_whole = table !== undefined && LARGE.includes(table) && plan["Index Cond"] === undefined &&
    plan["Index Name"] !== SMALL_INDEX;
  return [...(is_whole ? [table] : []), ...(plan.Plans ?? []).flatMap(wholeIn)];
}

async function planOf(client: DbClient, query: string): Promise<Plan> {
  const { rows } = await client.query<{ "QUERY PLAN": { Plan: Plan }[] }>(`explain (format json) ${query}`);
  return rows[0]!["QUERY PLAN"][0]!.Plan;
}

test("only the listed checks read whole tables of objects", async () => {
  await t.db.withClient(async (client) => {
    await client.query("begin");
    // On small tables, PostgreSQL uses an index only if these plans are disabled.
    for (const plan of ["seqscan", "bitmapscan", "hashjoin", "mergejoin", "material"]) {
      await client.query(`set local enable_${plan} = off`);
    }
    const whole: Record<string, string[]> = {};
    for (const { title, query } of [...CONDITIONS, ...invariants(behaviors, "recent")]) {
      const tables = [...new Set(wholeIn(await planOf(client, query)))].sort();
      if (tables.length > 0) whole[title] = tables;
    }
    await client.query("rollback");
    expect(whole).toEqual(WHOLE);
  });
});
