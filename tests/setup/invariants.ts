// The invariants of the log, of nodes and of boot records, checked after every test. docs/reliability.md INV-1 to INV-9,
// INV-13, INV-14.
import { expect } from "vitest";
import type { DbClient } from "../../src/db/pool.ts";
import { ADDRESS_CHECKS } from "../../src/doctor/addresses.ts";
import { logChecks } from "../../src/doctor/log.ts";
import { nodeChecks } from "../../src/doctor/nodes.ts";
import { brokenInvariants } from "../doctor/broken.ts";

/** The checks of the log and of nodes, and those checks of addresses that concern boot records. */
const CHECKS = [
  ...logChecks("all"),
  ...nodeChecks("all"),
  ...ADDRESS_CHECKS.filter(({ query }) => query.includes("boot_record")),
];

export async function expectInvariants(db: DbClient): Promise<void> {
  expect(await brokenInvariants(db, CHECKS)).toEqual([]);
}
