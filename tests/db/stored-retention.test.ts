// Tests maintenance with retention settings above the maximum. An earlier release accepted such values.
import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { storedSettings } from "../../actors/setting/reads.ts";
import { createAuditSigner } from "../../src/auth/audit-signature.ts";
import { RETENTION_S_MAX } from "../../src/contract/limits.ts";
import type { SettingKey } from "../../src/contract/settings.ts";
import { maintain } from "../../src/db/maintenance.ts";
import { createSettings } from "../../src/services/settings.ts";
import { deleteExpiredKeys } from "../../src/wiring/expired-keys.ts";
import { pruneDeliveries } from "../../src/wiring/webhooks.ts";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";

const KEYS: readonly SettingKey[] = [
  "saga.retention_secs",
  "log.retention_secs",
  "audit.archive_after_secs",
  "api_key.retention_secs",
  "webhook.retention_secs",
];

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane({ resident: false });
});
afterAll(() => t?.close());

test.each(KEYS)("maintenance works if the stored %s is above the maximum, and the maximum is shown", async (key) => {
  await t.db.query("delete from setting");
  await t.db.query(
    `insert into setting (key, incarnation, version, state, value, updated_at)
     values ($1, $2, 1, 'set', $3, berth_now())`,
    [key, randomUUID(), JSON.stringify({ is: Number.MAX_SAFE_INTEGER })],
  );
  const settings = createSettings(() => storedSettings(t.db.kysely), {});
  const engine = { send: () => Promise.reject(new Error("no key has expired")) };
  await maintain(t.db, {
    settings,
    signer: createAuditSigner(randomBytes(32)),
    prune: [(db) => pruneDeliveries(db, settings), (db) => deleteExpiredKeys(db, settings, engine)],
  });
  expect((await t.call("GET", `/v1/config/${key}`)).body.value).toBe(RETENTION_S_MAX);
});
