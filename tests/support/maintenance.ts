// Runs the periodic maintenance of a database once.
import { randomBytes } from "node:crypto";
import { createAuditSigner } from "../../src/auth/audit-signature.ts";
import { maintain } from "../../src/db/maintenance.ts";
import type { Db } from "../../src/db/pool.ts";

/**
 * Runs the maintenance. `retention_s` is the value of three settings: the retention of operations and jobs, the
 * retention of transitions, and the age at which audit events are archived.
 */
export async function maintainNow(db: Db, retention_s: number): Promise<void> {
  const kept = { key: "saga.retention_secs", value: retention_s, default: retention_s, env_override: null };
  const setting = { ...kept, restart_required: true, description: "" };
  const signer = createAuditSigner(randomBytes(32));
  await maintain(db, { settings: { get: () => Promise.resolve(setting) }, signer, prune: [] });
}
