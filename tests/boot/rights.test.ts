// Tests who may call each route of booting and setup. tests/api tests all routes with all kinds of callers.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { changedRows, dumpTables } from "../support/dump.ts";
import { awaitingSetup, HISTORY, newMac, putPolicy, settle } from "../setup/machine.ts";

// The paths name missing objects, so every status except 401 and 403 means "permitted". Columns: anon has no
// credential, root is the root operator's full key, and each other column is the root operator's key with that scope.
const TABLE = `
call                                               anon root read audit agent booter enroll
GET /v1/cns/{uuid}/setup-layout-proposal            401  404  404   403   403    403    403
POST /v1/cns/{uuid}/approve-setup                   401  404  403   403   403    403    403
POST /v1/cns/{uuid}/factory-reset                   401  404  403   403   403    403    403
DELETE /v1/cns/{uuid}                               401  204  403   403   403    403    403
POST /v1/cns/{uuid}/root-password                   401  404  403   403   403    403    403
GET /v1/cns/{uuid}/traits                           401  404  404   403   403    403    403
POST /v1/cns/{uuid}/traits                          401  404  403   403   403    403    403
PUT /v2/booter/cns/{uuid}/hardware                  401  400  403   403   403    400    403
GET /v2/cn-boot                                     401  200  200   403   403    200    403
GET /v2/cn-boot/{mac}                               401  404  404   403   403    404    403
POST /v2/cn-boot/{mac}/authorize                    401  409  403   403   403    403    403
POST /v2/cn-boot/{mac}/reactivate                   401  404  403   403   403    403    403
POST /v2/cn-boot/{mac}/decommission                 401  404  403   403   403    403    403
POST /v2/cn-boot/{mac}/rescue                       401  404  403   403   403    403    403
POST /v2/cn-boot/{mac}/rescue/clear                 401  404  403   403   403    403    403
POST /v2/cn-boot/{mac}/assign                       401  400  403   403   403    403    403
PUT /v2/cn-boot/{mac}/arguments                     401  404  403   403   403    403    403
GET /v2/cn-boot-policy                              401  200  200   403   403    200    403
PUT /v2/cn-boot-policy                              401  400  403   403   403    403    403
GET /v2/cn-boot-roster                              401  200  200   403   403    200    403
PUT /v2/cn-boot-roster                              401  400  403   403   403    403    403
POST /v2/cn-boot-roster/converge                    401  200  403   403   403    403    403
GET /v2/platform-images                             401  200  200   403   403    200    403
PUT /v2/platform-images                             401  400  403   403   403    400    403
POST /v2/booter/seen                                401  400  403   403   403    400    403
POST /v2/booter/announce                            401  400  403   403   403    400    400
POST /v2/booter/cns/{uuid}/bundle                   401  404  403   403   403    404    403
PUT /v2/booter/cns/{uuid}/setup-script              401  404  403   403   403    404    403
POST /v2/booter/cns/{uuid}/setup-script/bundle      401  404  403   403   403    404    403
GET /v2/booter/setup-scripts/{token_sha256}         401  404  403   403   403    404    403
POST /v2/booter/cns/{uuid}/setup-progress           401  404  403   403   403    404    403
POST /v2/booter/cns/{uuid}/setup-complete           401  404  403   403   403    404    403
POST /v2/booter/cns/{uuid}/setup-failed             401  404  403   403   403    404    403
`;
const [HEAD = "", ...ROWS] = TABLE.trim().split("\n");
const COLUMNS = HEAD.split(/\s+/).slice(1);
const CELLS = ROWS.map((row) => {
  const [method = "", path = "", ...expected] = row.split(/\s+/);
  return { call: `${method} ${path}`, expected: expected.map(Number) };
});

/** The request bodies. If a call would create something, its body is invalid, so that nothing is created. */
const BODIES: Record<string, unknown> = {
  "POST /v1/cns/{uuid}/approve-setup": { disk_layout: "single" },
  "POST /v1/cns/{uuid}/root-password": {},
  "POST /v1/cns/{uuid}/traits": { traits: {} },
  "PUT /v2/cn-boot/{mac}/arguments": { kernel_args: [], console: null },
  "POST /v2/cn-boot/{mac}/assign": { platform_image: "not-staged" },
  "PUT /v2/cn-boot-policy": { auto_enroll: "perhaps" },
  "PUT /v2/cn-boot-roster": {},
  "PUT /v2/platform-images": { stamps: [".."] },
  "POST /v2/booter/seen": { mac: "no" },
  "POST /v2/booter/announce": { server_uuid: "00000000-0000-0000-0000-000000000000", sysinfo: {} },
  "PUT /v2/booter/cns/{uuid}/hardware": {},
  "PUT /v2/booter/cns/{uuid}/setup-script": {
    epoch: 1,
    token_sha256: "ab".repeat(32),
    mac: newMac(),
    address: "10.20.0.10",
  },
  "POST /v2/booter/cns/{uuid}/setup-script/bundle": { epoch: 1, token: "ab".repeat(24) },
  "POST /v2/booter/cns/{uuid}/setup-progress": { epoch: 1, step: "s" },
  "POST /v2/booter/cns/{uuid}/setup-complete": { epoch: 1 },
  "POST /v2/booter/cns/{uuid}/setup-failed": { epoch: 1, reason: "r" },
};

let t: TestControlPlane;
const keys = new Map<string, string | null>();
beforeAll(async () => {
  t = await openTestControlPlane();
  keys.set("anon", null);
  const scopes = {
    read: "read_only",
    audit: "audit_only",
    agent: "agent",
    booter: "booter",
    enroll: "ur_enroll",
  } as const;
  for (const [column, scope] of Object.entries(scopes)) keys.set(column, (await t.mintKey(scope)).secret);
});
afterAll(() => t.close());

test.each(CELLS)("$call", async ({ call, expected }) => {
  const [method = "", pattern = ""] = call.split(" ");
  const path = pattern.replace("{uuid}", randomUUID()).replace("{mac}", newMac())
    .replace("{token_sha256}", "ab".repeat(32));
  const found: number[] = [];
  for (const column of COLUMNS) {
    const answer = await t.call(method, path, { key: keys.get(column), body: BODIES[call] });
    found.push(answer.status);
    if (answer.status === 403) expect(answer.body.error_code).toBe("Forbidden");
  }
  expect(Object.fromEntries(COLUMNS.map((column, n) => [column, found[n]]))).toEqual(
    Object.fromEntries(COLUMNS.map((column, n) => [column, expected[n]])),
  );
});

test("the table contains exactly the routes of booting and setup", async () => {
  const { paths } = (await t.call("GET", "/openapi.json")).body;
  const ours = Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace("{server_uuid}", "{uuid}")}`)
  ).filter((call) =>
    // tests/api/rights-matrix.test.ts tests the route of a record's doctor.
    !call.endsWith("/doctor") &&
    / \/v2\/(cn-boot|platform-images|booter)|\{uuid\}\/(setup|approve|factory|root|traits)/.test(call)
  );
  const other = "DELETE /v1/cns/{uuid}";
  expect(CELLS.map(({ call }) => call).filter((call) => call !== other).sort()).toEqual(ours.sort());
});

test("a refused call does not change an existing node or boot record", async () => {
  okOf(await putPolicy(t));
  const { server_uuid, macs } = await awaitingSetup(t);
  await settle(t);
  const before = await dumpTables(t.db);
  for (const { call, expected } of CELLS) {
    const [method = "", pattern = ""] = call.split(" ");
    const path = pattern.replace("{uuid}", server_uuid).replace("{mac}", macs[0] ?? "");
    for (const [n, column] of COLUMNS.entries()) {
      if (expected[n] !== 401 && expected[n] !== 403) continue;
      const answer = await t.call(method, path, { key: keys.get(column), body: BODIES[call] });
      expect([call, column, answer.status]).toEqual([call, column, expected[n]]);
    }
  }
  expect(changedRows(before, await dumpTables(t.db), HISTORY)).toEqual([]);
});

test("a booter key whose user is not a root operator gets 403", async () => {
  const { secret, id } = await t.mintKey("booter");
  const user = randomUUID();
  await t.db.query("insert into user_account (id, username) values ($1, 'somebody')", [user]);
  await t.db.query("update api_key set user_id = $1 where id = $2", [user, id]);
  const own = [403, 403, 403];
  const calls = [["GET", "/v2/cn-boot"], ["POST", "/v2/booter/seen"], ["POST", "/v2/booter/announce"]] as const;
  const bodies = [undefined, { mac: newMac() }, { server_uuid: randomUUID(), sysinfo: {} }];
  const answers = [];
  for (const [n, [method, path]] of calls.entries()) {
    answers.push((await t.call(method, path, { key: secret, body: bodies[n] })).status);
  }
  expect(answers).toEqual(own);
});
