// Checks in the plans of real requests that the database finds routes and firewall rules by an index. This includes the
// statements inside functions and foreign keys.
import { afterAll, beforeAll, expect, test } from "vitest";
import { openNetworkSite } from "../bench/network-site.ts";
import { networkSteps, TABLES } from "../bench/network-steps.ts";
import { largeTables, recordPlans, wholeScans } from "../bench/plans.ts";
import { type OwnCluster, ownCluster } from "../support/cluster.ts";

const SETTINGS = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };
const LARGE_ROWS = 10_000;
const LIMIT_MS = 120_000;

let cluster: OwnCluster;
beforeAll(async () => {
  cluster = await ownCluster(SETTINGS);
}, LIMIT_MS);
afterAll(() => cluster.remove());

const CASES = [
  ["all in one VPC", { rows: 20_000, others: 0, rows_each: 0 }],
  ["in many VPCs", { rows: 15_000, others: 100, rows_each: 50 }],
] as const;

test.each(CASES)(
  "with 20,000 routes and 20,000 firewall rules %s, no request, guard or foreign key reads either whole table",
  async (_case, size) => {
    const site = await openNetworkSite(cluster.url, { name: `plans_${size.others}`, size });
    try {
      expect(await largeTables(site.databaseUrl, LARGE_ROWS)).toEqual(["firewall_rule", "route"]);
      const plans = await recordPlans(cluster, site.databaseUrl);
      await site.reopen();
      const whole: string[] = [];
      for (const step of networkSteps(site)) {
        const scans = await plans.during(step.run);
        const read = scans.map(({ table }) => table);
        expect([step.name, read]).toEqual([step.name, expect.arrayContaining([...step.reads])]);
        whole.push(...wholeScans(scans, TABLES).map(({ table, statement }) => `${step.name}: ${table}: ${statement}`));
      }
      expect(whole).toEqual([]);
    } finally {
      await site.close();
    }
  },
  LIMIT_MS,
);
