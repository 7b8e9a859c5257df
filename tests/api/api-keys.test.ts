// Tests API keys and the header Idempotency-Key (docs/tenancy.md, "Credentials"; docs/wire.md, "Repeating a request").
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KEY_SCOPES } from "../../src/contract/enums.ts";
import { openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";
import { dumpTables, tablesWith } from "../support/dump.ts";
import { addUser } from "./user.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
});
afterAll(() => t.close());

const PATH = "/v1/auth/api-keys";
const make = (body: unknown, headers = {}) => t.call("POST", PATH, { body, headers });
const whoami = (key: string) => t.call("GET", "/v1/auth/whoami", { key });

test("an API key can have one of six scopes", () => {
  expect([...KEY_SCOPES].sort()).toEqual(["agent", "audit_only", "booter", "full", "read_only", "ur_enroll"]);
});

test("of_nodes=true lists only the keys of nodes, and of_nodes=false only the other keys", async () => {
  const { server_uuid } = await t.approvedNode();
  const list = async (query: string) =>
    (await t.call("GET", `${PATH}${query}`)).body as { bound_to_cn: string | null }[];
  const [all, of_nodes, others] = [await list(""), await list("?of_nodes=true"), await list("?of_nodes=false")];
  expect(of_nodes.map(({ bound_to_cn }) => bound_to_cn)).toContain(server_uuid);
  expect(of_nodes).toEqual(all.filter(({ bound_to_cn }) => bound_to_cn !== null));
  expect(others).toEqual(all.filter(({ bound_to_cn }) => bound_to_cn === null));
  expect(await t.call("GET", `${PATH}?of_nodes=yes`)).toMatchObject({ status: 400 });
});

test("id_prefix lists only the keys whose id begins with it", async () => {
  const { id } = (await make({ description: "found" })).body;
  await make({ description: "another" });
  const list = (prefix: string) => t.call("GET", `${PATH}?id_prefix=${prefix}`);
  const ids = async (prefix: string) => (await list(prefix)).body.map((key: { id: string }) => key.id);
  expect(await ids(id)).toEqual([id]);
  expect(await ids(id.slice(0, 24).toUpperCase())).toEqual([id]);
  const all: string[] = (await t.call("GET", PATH)).body.map((key: { id: string }) => key.id);
  expect(await ids(id.slice(0, 3))).toEqual(all.filter((each) => each.startsWith(id.slice(0, 3))));
  for (const wrong of ["", "x", `${id}0`, id.replaceAll("-", "")]) expect((await list(wrong)).status).toBe(400);
});

test.each([...KEY_SCOPES])("a new key of scope %s is accepted, and its secret is shown only once", async (scope) => {
  const { status, body } = await make({ description: "d", scope });
  expect(status).toBe(201);
  const { secret, ...view } = body;
  expect(secret).toMatch(/^opsk_[A-Za-z0-9_-]{12}_[A-Za-z0-9_-]{32}$/);
  expect(view).toEqual({
    id: expect.any(String),
    user_id: expect.any(String),
    description: "d",
    scope,
    bound_to_cn: null,
    tenant_id: null,
    created_at: expect.any(String),
    expires_at: null,
    last_used_at: null,
  });
  expect((await whoami(secret)).body).toMatchObject({ key_id: view.id, scope, username: "root", is_root: true });
  const list = await t.call("GET", PATH);
  expect(list.body.find((key: { id: string }) => key.id === view.id)).toMatchObject({ description: "d", scope });
  expect(list.text).not.toContain(secret.slice(-32));
  expect(tablesWith(await dumpTables(t.db), secret.slice(-32))).toEqual([]);
});

test("a key that is created without a scope, or with scope null, has the scope full", async () => {
  expect((await make({ description: "d" })).body.scope).toBe("full");
  expect((await make({ description: "d", scope: null, expires_at: null })).body).toMatchObject({
    scope: "full",
    expires_at: null,
  });
});

test("a key can expire in the last millisecond of the year 9999 in UTC, also if the given time has another offset", async () => {
  const { status, body } = await make({ description: "d", expires_at: "9999-12-31T22:59:59.9999-01:00" });
  expect([status, body.expires_at]).toEqual([201, "9999-12-31T23:59:59.999Z"]);
});

test("a deleted key is refused from the next request on, in every process", async () => {
  const other = await openTestControlPlane({ databaseUrl: t.databaseUrl });
  const { id, secret } = await t.mintKey("full");
  expect((await other.call("GET", "/v1/config", { key: secret })).status).toBe(200);
  expect((await t.call("DELETE", `${PATH}/${id}`)).status).toBe(204);
  expect((await other.call("GET", "/v1/config", { key: secret })).status).toBe(401);
  expect((await t.call("GET", "/v1/config", { key: secret })).status).toBe(401);
  expect((await t.call("DELETE", `${PATH}/${id}`)).status).toBe(404);
  await other.close();
});

test("a key is refused from the moment of its expiry", async () => {
  const { rows } = await t.db.query<{ now: Date }>("select berth_now() as now");
  const expires_at = new Date((rows[0]?.now.getTime() ?? 0) + 60_000).toISOString();
  const { secret } = await t.mintKey("full", { expires_at });
  expect((await whoami(secret)).body.expires_at).toBe(expires_at);
  await t.advance(58);
  expect((await whoami(secret)).status).toBe(200);
  await t.advance(2);
  expect((await whoami(secret)).status).toBe(401);
});

test("a key cannot delete itself", async () => {
  const { id, secret } = await t.mintKey("full");
  expect((await t.call("DELETE", `${PATH}/${id}`, { key: secret })).status).toBe(409);
  expect((await whoami(secret)).status).toBe(200);
});

test("another user's key is not listed, and deleting it gets the same answer as deleting a missing key", async () => {
  const user = await addUser(t.db, "key-owner");
  const roots = await t.mintKey("full");
  const headers = { "x-request-id": randomUUID() };
  const foreign = await t.call("DELETE", `${PATH}/${roots.id}`, { key: user.key, headers });
  const absent = await t.call("DELETE", `${PATH}/${randomUUID()}`, { key: user.key, headers });
  expect(foreign.status).toBe(404);
  expect(foreign.text).toBe(absent.text);
  expect((await whoami(roots.secret)).status).toBe(200);
  expect((await t.call("GET", PATH, { key: user.key })).body).toHaveLength(1);
});

test("using a key sets its last_used_at", async () => {
  const { id, secret } = await t.mintKey("read_only");
  await whoami(secret);
  const used = async () => (await t.call("GET", PATH)).body.find((key: { id: string }) => key.id === id).last_used_at;
  await expect.poll(used, { timeout: 20_000 }).toEqual(expect.any(String));
});

describe("a key is not created", () => {
  test.each([
    [{}, "description"],
    [{ description: "" }, "description"],
    [{ description: "a".repeat(256) }, "description"],
    [{ description: "d", scope: "root" }, "scope"],
    [{ description: "d", expires_at: "tomorrow" }, "expires_at"],
    [{ description: "d", expires_at: "2020-01-01T00:00:00Z" }, "expires_at: must be in the future"],
    [{ description: "d", bound_to_cn: randomUUID() }, "bound_to_cn"],
    [{ description: "d", user_id: randomUUID() }, "user_id"],
    [{ description: "d", secret: "mine" }, "secret"],
  ])("with %j", async (body, field) => {
    const before = (await t.call("GET", PATH)).body.length;
    const answer = await make(body);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(field);
    expect((await t.call("GET", PATH)).body).toHaveLength(before);
  });
});

describe("Idempotency-Key", () => {
  test("a repeated request with the same body returns the same secret, and creates one key", async () => {
    const headers = { "idempotency-key": "make-1" };
    const first = await make({ description: "once" }, headers);
    const second = await make({ description: "once" }, headers);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expect((await whoami(second.body.secret)).status).toBe(200);
    const keys = (await t.call("GET", PATH)).body;
    expect(keys.filter((key: { description: string }) => key.description === "once")).toHaveLength(1);
    expect(tablesWith(await dumpTables(t.db), first.body.secret.slice(-32))).toEqual([]);
  });

  test("concurrent requests in two processes take effect once and get the same answer", async () => {
    const other = await openTestControlPlane({ databaseUrl: t.databaseUrl });
    const given = { body: { description: "at once" }, headers: { "idempotency-key": "make-at-once" } };
    const answers = await Promise.all([t, other, t, other, t, other].map((each) => each.call("POST", PATH, given)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body }) => body.secret)).size).toBe(1);
    const keys = (await t.call("GET", PATH)).body;
    expect(keys.filter((key: { description: string }) => key.description === "at once")).toHaveLength(1);
    await other.close();
  });

  test("a repeat with another body gets 422 and creates nothing", async () => {
    const headers = { "idempotency-key": "make-2" };
    await make({ description: "first body" }, headers);
    expect((await make({ description: "second body" }, headers)).status).toBe(422);
    const keys = (await t.call("GET", PATH)).body;
    expect(keys.filter((key: { description: string }) => key.description === "second body")).toHaveLength(0);
  });

  test("the same Idempotency-Key of another user, or for another path, identifies another request", async () => {
    const headers = { "idempotency-key": "shared-words" };
    const user = await addUser(t.db, "idempotent");
    const mine = await make({ description: "same" }, headers);
    const theirs = await t.call("POST", PATH, { key: user.key, body: { description: "same" }, headers });
    expect([mine.status, theirs.status]).toEqual([201, 201]);
    expect(theirs.body.id).not.toBe(mine.body.id);
    const { server_uuid } = await t.register();
    expect((await t.call("POST", `/v1/cns/${server_uuid}/disable`, { headers })).status).toBe(200);
  });

  test("a repeat gets the same refusal, even if the request would succeed now", async () => {
    const server_uuid = randomUUID();
    const headers = { "idempotency-key": "refused" };
    const act = () => t.call("POST", `/v1/cns/${server_uuid}/disable`, { headers });
    expect((await act()).status).toBe(404);
    await t.register({ server_uuid });
    expect((await act()).status).toBe(404);
    expect((await t.call("POST", `/v1/cns/${server_uuid}/disable`)).status).toBe(200);
  });

  test("a repeated change gets the same answer and has no second effect", async () => {
    const { server_uuid } = await t.register();
    const role = (value: string, headers = {}) =>
      t.call("POST", `/v1/cns/${server_uuid}/role`, { body: { role: value }, headers });
    const headers = { "idempotency-key": "role-1" };
    const first = await role("edge", headers);
    await role("both");
    expect(await role("edge", headers)).toMatchObject({ status: 200, body: first.body });
    expect((await t.call("GET", `/v1/system/cns/${server_uuid}`)).body.role).toBe("both");
  });

  test.each(["", " ", "a".repeat(256), "tab\tinside", "ümlaut"])("%j gets 400 and creates nothing", async (key) => {
    const answer = await make({ description: "bad idempotency key" }, { "idempotency-key": key });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain("Idempotency-Key");
    const keys = (await t.call("GET", PATH)).body;
    expect(keys.filter((each: { description: string }) => each.description === "bad idempotency key")).toHaveLength(0);
  });

  test("an Idempotency-Key of 255 characters is accepted", async () => {
    expect((await make({ description: "d" }, { "idempotency-key": "a".repeat(255) })).status).toBe(201);
  });

  test("after a day the same Idempotency-Key counts as a new key", async () => {
    const headers = { "idempotency-key": "yesterday" };
    const first = await make({ description: "day" }, headers);
    await t.advance(24 * 3_600);
    const second = await make({ description: "another day" }, headers);
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
  });
});

test("BERTH_ROOT_KEY belongs to the root operator, has the scope full and does not expire", async () => {
  expect((await whoami(ROOT_KEY)).body).toMatchObject({ is_root: true, scope: "full", expires_at: null });
});

test("maintenance deletes a key 30 days after its expiry and adds an audit event, and does not delete other keys", async () => {
  const own = await openTestControlPlane();
  const call = async (path: string) => (await own.call("GET", path)).body;
  const key = async (expires_in_s: number): Promise<{ id: string }> => {
    const now_ms = (await own.db.query<{ at: Date }>("select berth_now() as at")).rows[0]!.at.getTime();
    return await own.mintKey("full", { expires_at: new Date(now_ms + expires_in_s * 1_000).toISOString() });
  };
  const [old, recent, forever] = [await key(3_600), await key(3 * 86_400), await own.mintKey("full")];
  await own.advance(30 * 86_400 + 7_200);
  // The first pass of a new process runs maintenance.
  const other = await openTestControlPlane({ databaseUrl: own.databaseUrl });
  try {
    const listed = async () => (await call(PATH)).map(({ id }: { id: string }) => id);
    await expect.poll(listed, { timeout: 60_000 }).not.toContain(old.id);
    expect(await listed()).toEqual(expect.arrayContaining([recent.id, forever.id]));
    const { events } = await call(`/v1/audit/events?order=desc&action=delete_api_key&resource=${old.id}`);
    expect(events).toMatchObject([{ actor: { kind: "system" }, payload: { key_id: old.id } }]);
  } finally {
    await other.close();
    await own.close();
  }
});
