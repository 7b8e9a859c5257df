// The invariants of nodes and boot records, checked after every test. docs/reliability.md INV-2, INV-7 to INV-9,
// INV-13, INV-14.
import { expect } from "vitest";
import type { DbClient } from "../../src/db/pool.ts";
import { ADDRESS_CHECKS } from "../../src/doctor/addresses.ts";
import { logChecks } from "../../src/doctor/log.ts";
import { nodeChecks } from "../../src/doctor/nodes.ts";
import { brokenInvariants } from "../doctor/broken.ts";

/** The checks of nodes and their transitions, and the checks of addresses in boot records. */
const CHECKS = [
  ...logChecks("all").filter(({ query }) => query.includes("actor_kind = 'cn'")),
  ...nodeChecks("all"),
  ...ADDRESS_CHECKS.filter(({ query }) => query.includes("boot_record")),
];

export async function expectInvariants(db: DbClient): Promise<void> {
  expect(await brokenInvariants(db, CHECKS)).toEqual([]);
}
