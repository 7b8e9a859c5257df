// Tests the upgrade from release 0.1.0. In that release, the row of a pending node contained the node's claim code and
// token. Now claims have their own rows.
import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createMint, sha256Hex } from "../../src/auth/mint.ts";
import { openClient } from "../../src/db/pool.ts";
import { okOf, openTestControlPlane, SECRET_KEY, type TestControlPlane } from "../support/control-plane.ts";
import type { FreshDatabase } from "../support/database.ts";
import { databaseOfRelease010 } from "./release-0-1-0.ts";

const mint = createMint(Buffer.from(SECRET_KEY, "hex"));
let database: FreshDatabase;
let t: TestControlPlane;

type Pending = { readonly server_uuid: string; readonly registration_id: string; readonly code: string };
const pending = (code: string): Pending => ({ server_uuid: randomUUID(), registration_id: randomUUID(), code });
/**
 * Three pending nodes. The first waits for approval, the second has an expired code, and the third was approved and
 * disabled before it registered again.
 */
const [waiting, expired, rejoined] = [pending("ABC234"), pending("ABC235"), pending("ABC236")];

beforeAll(async () => {
  database = await databaseOfRelease010();
  const client = await openClient({ url: database.url });
  for (const { server_uuid, registration_id, code } of [waiting, expired, rejoined]) {
    const before = code === rejoined.code ? ["absent>pending", "pending>approved", "approved>disabled"] : [];
    const last = before.length === 0 ? "absent>pending" : "disabled>pending";
    const life = randomUUID();
    await client.query(
      `insert into cn (server_uuid, incarnation, version, state, hostname, role, sysinfo, macs, registered_at, claim_code,
                       claim_code_expires_at, registration_id, poll_token_sha256)
       values ($1, $2, $3, 'pending', 'old', 'tenant', $4, '{02:00:00:00:00:01}', berth_now(), $5,
               berth_now() + $6 * interval '1 minute', $7, $8)`,
      [
        server_uuid,
        life,
        before.length + 1,
        { "Serial Number": " TAG1 " },
        code,
        code === expired.code ? -1 : 30,
        registration_id,
        sha256Hex(mint.pollToken(registration_id)),
      ],
    );
    for (const [index, step] of [...before, last].entries()) {
      const [from, to] = step.split(">");
      await client.query(
        `insert into transition (actor_kind, actor_id, incarnation, seq, event, from_state, to_state, msg_id, at)
         values ('cn', $1, $2, $3, 'register', $4, $5, $6, berth_now() - interval '1 day')`,
        [server_uuid, life, index + 1, from, to, randomUUID()],
      );
    }
  }
  await client.end();
  t = await openTestControlPlane({ databaseUrl: database.url, resident: false });
}, 60_000);

afterAll(async () => {
  await t?.close();
  await database?.drop();
});

const status = ({ registration_id }: Pending) =>
  t.call("GET", `/v1/agent/register/status?poll_token=${mint.pollToken(registration_id)}`, {
    key: null,
    signal: AbortSignal.timeout(500),
  });

test("after the upgrade, a pending node's code and token still work", async () => {
  expect(okOf(await status(waiting)).state).toBe("pending");
  const shown = okOf(await t.call("GET", `/v1/system/cns/${waiting.server_uuid}`));
  expect(shown).toMatchObject({ state: "pending", claim_code: "ABC-234", claims: [{ serial: "TAG1", differs: [] }] });
  expect(okOf(await t.approve("ABC234")).state).toBe("approved");
  const { api_key } = okOf(await status(waiting));
  expect((await t.call("POST", "/v1/agent/heartbeat", { key: api_key })).status).toBe(200);
});

test("when a code has expired, the background worker deletes a new node, and disables a node that was disabled before its claim", async () => {
  await t.plane.pass();
  expect((await t.call("GET", `/v1/system/cns/${expired.server_uuid}`)).status).toBe(404);
  await t.advance(1_800);
  await t.plane.pass();
  expect(okOf(await t.call("GET", `/v1/system/cns/${rejoined.server_uuid}`)).state).toBe("disabled");
});

test("after the upgrade, the doctor finds no violation of INV-6 and INV-9", async () => {
  const { checks } = okOf(await t.call("GET", "/v1/system/doctor"));
  const broken = checks.filter((check: { id: string; status: string }) =>
    ["INV-6", "INV-9"].includes(check.id) && check.status !== "ok"
  );
  expect(broken).toEqual([]);
});
