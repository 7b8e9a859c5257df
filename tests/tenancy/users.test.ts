// Tests users and their rights (docs/tenancy.md): no caller raises its own rights.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CAPABILITIES } from "../../src/contract/enums.ts";
import { encodePageToken } from "../../src/lib/ids/page-token.ts";
import { okOf, openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";
import { openTenant } from "./tenant.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane({ env: { BERTH_LOGIN_PER_MINUTE: "1000000" } });
});
afterAll(() => t.close());

const PATH = "/v1/system/users";
const PASSWORD = "a long enough password";
let users = 0;

const make = (fields: Record<string, unknown> = {}, key = ROOT_KEY) =>
  t.call("POST", PATH, { key, body: { username: `user-${users += 1}`, password: PASSWORD, ...fields } });
const tokenOf = async (username: string) =>
  okOf(await t.call("POST", "/v1/auth/login", { key: null, body: { username, password: PASSWORD } })).access_token;
const capability = (method: string, id: string, name: string, key = ROOT_KEY) =>
  t.call(method, `${PATH}/${id}/capabilities/${name}`, { key });
const setPassword = (id: string, key = ROOT_KEY) =>
  t.call("PUT", `${PATH}/${id}/password`, { key, body: { password: "set by somebody else" } });

/** Creates a user and logs it in. `key` is the access token. */
async function caller(fields: Record<string, unknown>): Promise<{ id: string; username: string; key: string }> {
  const { id, username } = okOf(await make(fields));
  return { id, username, key: await tokenOf(username) };
}

test("a user is created, shown and listed, without its password or hash", async () => {
  const tenant = await openTenant(t);
  const { status, body, text } = await make({
    tenant_id: tenant.tenant_id.toUpperCase(),
    capabilities: ["system-read", "storage-admin", "system-read"],
  });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.any(String),
    username: expect.any(String),
    is_root: false,
    capabilities: ["storage-admin", "system-read"],
    tenant_id: tenant.tenant_id,
    silo_id: tenant.silo_id,
    issuer: null,
    created_at: expect.any(String),
  });
  expect(text).not.toContain("argon2");
  expect((await t.call("GET", `${PATH}/${body.id}`)).body).toEqual(body);
  expect((await t.call("GET", `${PATH}/${randomUUID()}`)).status).toBe(404);
  expect((await t.call("GET", PATH)).body.items).toContainEqual(body);
});

test("a search finds users by a part of the name, in upper or lower case, or by a part of the UUID", async () => {
  const { id } = okOf(await make({ username: "Search_me1" }));
  const found = async (q: string) =>
    okOf(await t.call("GET", `${PATH}?q=${encodeURIComponent(q)}`)).items.map((user: { id: string }) => user.id);
  for (const q of ["CH_ME", id.slice(2, 30)]) expect(await found(q), q).toEqual([id]);
  for (const q of ["search%me", "search-me"]) expect(await found(q), q).toEqual([]);
});

test("the list can be restricted to the users of one tenant, together with a search", async () => {
  const [own, other] = [await openTenant(t), await openTenant(t)];
  const ids = [];
  for (const { tenant_id } of [own, own, other]) ids.push(okOf(await make({ tenant_id })).id);
  const found = async (query: string) =>
    okOf(await t.call("GET", `${PATH}?${query}`)).items.map((user: { id: string }) => user.id);
  expect(await found(`tenant=${own.tenant_id}`)).toEqual(ids.slice(0, 2));
  expect(await found(`tenant=${own.tenant_id}&q=${ids[1]}`)).toEqual([ids[1]]);
  expect(await found(`tenant=${own.tenant_id}&q=${ids[2]}`)).toEqual([]);
});

test("the pages of the list contain each user once", async () => {
  for (let each = 0; each < 3; each += 1) okOf(await make());
  const whole = okOf(await t.call("GET", PATH)).items.map(({ id }: { id: string }) => id);
  const paged: string[] = [];
  let next: string | undefined = "";
  while (next !== undefined) {
    const { items, next_page } = okOf(
      await t.call("GET", `${PATH}?limit=2${next === "" ? "" : `&page_token=${next}`}`),
    );
    paged.push(...items.map(({ id }: { id: string }) => id));
    next = next_page;
  }
  expect(paged).toEqual(whole);
  const year0 = encodePageToken({ created_at: "0000-01-01T00:00:00Z", id: randomUUID() });
  for (const token of ["abc", year0]) {
    expect((await t.call("GET", `${PATH}?page_token=${token}`)).status).toBe(400);
  }
});

test("a caller that is not root grants silo-admin only to users of its own tenant", async () => {
  const [own, other] = [await openTenant(t), await openTenant(t)];
  const operator = await caller({ tenant_id: own.tenant_id, capabilities: ["system-operate", "silo-admin"] });
  const elsewhere = okOf(await make({ tenant_id: other.tenant_id }));
  expect((await capability("PUT", elsewhere.id, "silo-admin", operator.key)).status).toBe(403);
  expect(okOf(await t.call("GET", `${PATH}/${elsewhere.id}`)).capabilities).toEqual([]);
  const colleague = okOf(await make({ tenant_id: own.tenant_id }));
  okOf(await capability("PUT", colleague.id, "silo-admin", operator.key));
  okOf(await capability("PUT", elsewhere.id, "silo-admin"));
});

test("a local user cannot be created with the name of an existing user", async () => {
  const first = okOf(await make());
  const again = await make({ username: first.username });
  expect(again).toMatchObject({ status: 409, body: { message: expect.stringContaining(first.username) } });
  expect((await make({ username: "root" })).status).toBe(409);
});

test.each([
  [{ username: "" }, "username"],
  [{ username: "a b" }, "username"],
  [{ username: "-a" }, "username"],
  [{ username: "a".repeat(64) }, "username"],
  [{ password: "1234567" }, "password"],
  [{ password: "a".repeat(1_025) }, "password"],
  [{ capabilities: ["root"] }, "capabilities"],
  [{ is_root: true }, "is_root"],
  [{ tenant_id: "x" }, "tenant_id"],
])("a user is not created with %j", async (fields, name) => {
  expect(await make(fields)).toMatchObject({ status: 400, body: { message: expect.stringContaining(name) } });
});

test("creating a user in a tenant that does not exist gets 404", async () => {
  expect((await make({ tenant_id: randomUUID() })).status).toBe(404);
});

test("a capability grants its rights at once, and its loss removes them at once", async () => {
  const user = await caller({});
  const read = async () => (await t.call("GET", PATH, { key: user.key })).status;
  expect(await read()).toBe(404);
  expect((await capability("PUT", user.id, "system-read")).body.capabilities).toEqual(["system-read"]);
  expect((await capability("PUT", user.id, "system-read")).body.capabilities).toEqual(["system-read"]);
  expect(await read()).toBe(200);
  expect((await make({}, user.key)).status).toBe(404);
  expect((await capability("DELETE", user.id, "system-read")).body.capabilities).toEqual([]);
  expect((await capability("DELETE", user.id, "system-read")).status).toBe(200);
  expect(await read()).toBe(404);
  expect((await capability("PUT", randomUUID(), "system-read")).status).toBe(404);
  expect((await capability("PUT", user.id, "root")).status).toBe(400);
});

describe("the root operator", () => {
  const root = async () => okOf(await t.call("GET", "/v1/auth/whoami")).user_id;

  test("has every capability: granting or revoking a capability gets 400 RootIsRoot", async () => {
    for (const method of ["PUT", "DELETE"]) {
      const answer = await capability(method, await root(), "system-read");
      expect(answer).toMatchObject({ status: 400, body: { error_code: "RootIsRoot" } });
    }
  });

  test("is not deleted", async () => {
    expect((await t.call("DELETE", `${PATH}/${await root()}`)).status).toBe(409);
  });

  test("exists only once", async () => {
    const other = await openTestControlPlane({ databaseUrl: t.databaseUrl });
    const { rows } = await t.db.query("select username from user_account where is_root");
    expect(rows).toEqual([{ username: "root" }]);
    await other.close();
  });
});

describe("a caller with system-operate that is not root", () => {
  test("grants no capability that it lacks, neither to others nor to itself", async () => {
    const by = await caller({ capabilities: ["system-operate", "system-read"] });
    const other = okOf(await make());
    for (const name of CAPABILITIES) {
      const held = name === "system-operate" || name === "system-read";
      for (const id of [other.id, by.id]) {
        expect([name, (await capability("PUT", id, name, by.key)).status]).toEqual([name, held ? 200 : 403]);
      }
      expect([name, (await make({ capabilities: [name] }, by.key)).status]).toEqual([name, held ? 201 : 403]);
    }
  });

  test("cannot set the password of root, of a user with a further capability, or of a tenant's user", async () => {
    const tenant = await openTenant(t);
    const by = await caller({ capabilities: ["system-operate"] });
    const root = okOf(await t.call("GET", "/v1/auth/whoami")).user_id;
    const more = okOf(await make({ capabilities: ["system-config-write"] }));
    const member = okOf(await make({ tenant_id: tenant.tenant_id }));
    for (const id of [root, more.id, member.id]) {
      expect(await setPassword(id, by.key)).toMatchObject({ status: 403, body: { error_code: "Forbidden" } });
    }
    expect((await make({ tenant_id: tenant.tenant_id }, by.key)).status).toBe(404);
    const equal = okOf(await make({ capabilities: ["system-operate"] }, by.key));
    expect((await setPassword(equal.id, by.key)).status).toBe(200);
    expect((await setPassword(randomUUID(), by.key)).status).toBe(404);
  });

  test("creates users of its own tenant", async () => {
    const tenant = await openTenant(t);
    const by = await caller({ capabilities: ["system-operate"], tenant_id: tenant.tenant_id });
    expect((await make({ tenant_id: tenant.tenant_id }, by.key)).body.tenant_id).toBe(tenant.tenant_id);
  });
});

test("a user that owns a key is not deleted, and the 409 names the key", async () => {
  const user = await caller({});
  const key = okOf(await t.call("POST", "/v1/auth/api-keys", { key: user.key, body: { description: "mine" } }));
  const refused = await t.call("DELETE", `${PATH}/${user.id}`);
  expect(refused).toMatchObject({ status: 409, body: { message: expect.stringContaining(key.id) } });
  okOf(await t.call("DELETE", `/v1/auth/api-keys/${key.id}`, { key: user.key }));
  expect((await t.call("DELETE", `${PATH}/${user.id}`)).status).toBe(204);
  expect((await t.call("DELETE", `${PATH}/${user.id}`)).status).toBe(404);
});

test("if a user is deleted while it creates a key, only one of the two requests succeeds", async () => {
  for (let round = 0; round < 5; round += 1) {
    const user = await caller({});
    const [made, deleted] = await Promise.all([
      t.call("POST", "/v1/auth/api-keys", { key: user.key, body: { description: "race" } }),
      t.call("DELETE", `${PATH}/${user.id}`),
    ]);
    const outcome = [made.status, deleted.status].join();
    expect(["201,409", "409,204", "401,204"]).toContain(outcome);
  }
});

test("a tenant is not deleted while it has a user, and the 409 names the user", async () => {
  const tenant = await openTenant(t);
  const user = okOf(await make({ tenant_id: tenant.tenant_id }));
  okOf(await tenant.call("DELETE", `/v1/tenants/${tenant.tenant_id}/projects/${tenant.project_id}`));
  okOf(await t.call("DELETE", `/v1/tenants/${tenant.tenant_id}/api-keys/${tenant.key_id}`));
  const path = `/v1/silos/${tenant.silo_id}/tenants/${tenant.tenant_id}`;
  const refused = await t.call("DELETE", path);
  expect(refused).toMatchObject({ status: 409, body: { message: expect.stringContaining(user.username) } });
  okOf(await t.call("DELETE", `${PATH}/${user.id}`));
  expect((await t.call("DELETE", path)).status).toBe(204);
});
