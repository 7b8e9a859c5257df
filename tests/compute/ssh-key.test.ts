// Tests SSH keys: the stored fields, rejected requests, and ownership (docs/tenancy.md).
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { okOf, openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";
import { needs, present } from "../support/optional-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Callers, levelsOf, makeCallers } from "./callers.ts";
import { newPublicKey } from "./public-key.ts";

let t: TestControlPlane;
let callers: Callers;
beforeAll(async () => {
  t = await openTestControlPlane();
  callers = await makeCallers(t);
});
afterAll(() => t.close());

const OWN = "/v1/auth/ssh-keys";
const bodyOf = (public_key = newPublicKey()) => ({ name: randomUUID(), public_key });
const make = (key: string, body: unknown = bodyOf(), path = OWN) => t.call("POST", path, { key, body });
const idsOf = async (key: string) => okOf(await t.call("GET", OWN, { key })).map(({ id }: { id: string }) => id);

test("a user's key is shown with scope, line and fingerprint, and is listed", async () => {
  const { member } = callers;
  const public_key = newPublicKey("admin@example");
  const made = await make(member.key, { name: "laptop", description: "d", public_key: `  ${public_key}\n` });
  expect(made.status).toBe(201);
  expect(made.body).toEqual({
    id: expect.stringMatching(/^.{14}5/),
    scope: { kind: "user", user_id: member.user_id },
    name: "laptop",
    description: "d",
    labels: {},
    public_key,
    fingerprint: expect.stringMatching(/^SHA256:[A-Za-z0-9+/]{43}$/),
    created_at: expect.any(String),
  });
  expect((await t.call("GET", `/v1/ssh-keys/${made.body.id}`, { key: member.key })).body).toEqual(made.body);
  expect(okOf(await t.call("GET", OWN, { key: member.key }))).toContainEqual(made.body);
});

test("the fingerprint of a key of every type, except types for security keys, equals the output of ssh-keygen", async (context) => {
  needs(context, "ssh-keygen");
  const folder = await temporaryFolder("ssh-key");
  try {
    for (
      const [type, bits] of [["ed25519", "256"], ["ecdsa", "256"], ["ecdsa", "384"], ["ecdsa", "521"], ["rsa", "2048"]]
    ) {
      const file = join(folder.path, `${type}-${bits}`);
      execFileSync(present("ssh-keygen"), ["-q", "-t", type!, "-b", bits!, "-N", "", "-C", "a comment", "-f", file]);
      const line = readFileSync(`${file}.pub`, "utf8").trim();
      const [, printed] = execFileSync(present("ssh-keygen"), ["-l", "-f", `${file}.pub`], { encoding: "utf8" }).split(
        " ",
      );
      const made = okOf(await make(callers.member.key, bodyOf(line)));
      expect([made.public_key, made.fingerprint]).toEqual([line, printed]);
    }
  } finally {
    await folder.remove();
  }
});

describe("a create request gets 400 with the parser's message:", () => {
  const blob = newPublicKey().split(" ")[1] ?? "";
  const CASES: readonly [string, string][] = [
    ["nothing", ""],
    ["a word", "not-a-key"],
    ["options before the type", `restrict,command="sh" ssh-ed25519 ${blob}`],
    ["two lines", `ssh-ed25519 ${blob}\nssh-ed25519 ${blob}`],
    ["a private key", "-----BEGIN OPENSSH PRIVATE KEY-----"],
    ["another type in the encoded part", `ssh-rsa ${blob}`],
    ["base64 that is cut", `ssh-ed25519 ${blob.slice(0, -4)}`],
    ["base64 that is not canonical", `ssh-ed25519 ${blob.slice(0, -1)}=`],
    ["DSA", "ssh-dss AAAAB3NzaC1kc3MAAAAA"],
  ];
  test.each(CASES)("%s", async (_what, public_key) => {
    const answer = await make(callers.member.key, bodyOf(public_key));
    expect(answer).toMatchObject({ status: 400, body: { error_code: "BadRequest" } });
    expect(answer.body.message).toMatch(/^invalid openssh public key: \S/);
    if (public_key !== "") expect(answer.body.message).not.toContain(public_key);
  });
});

test("names and keys are unique in their scope, and a different comment does not make a key different", async () => {
  const public_key = newPublicKey();
  const name = randomUUID();
  const levels = levelsOf(callers.acme);
  const paths = ["/v1/ssh-keys", ...Object.values(levels).map((level) => `${level}/ssh-keys`), OWN];
  for (const path of paths) {
    const made = await make(ROOT_KEY, { name, public_key }, path);
    expect([path, made.status]).toEqual([path, 201]);
    const sameKey = await make(ROOT_KEY, bodyOf(`${public_key} again`), path);
    expect(sameKey).toMatchObject({ status: 409, body: { message: expect.stringContaining(made.body.fingerprint) } });
    const sameName = await make(ROOT_KEY, { name, public_key: newPublicKey() }, path);
    expect(sameName).toMatchObject({ status: 409, body: { message: expect.stringContaining(name) } });
  }
});

test("a create request with an invalid name gets 409", async () => {
  for (const name of ["", " a", "a/b", "x".repeat(64)]) {
    const answer = await make(callers.member.key, { name, public_key: newPublicKey() });
    expect([name, answer.status]).toEqual([name, 409]);
  }
});

test("the public list requires scope=public", async () => {
  const ask = async (query: string) => (await t.call("GET", `/v1/ssh-keys${query}`, { key: null })).body.error_code;
  expect([await ask(""), await ask("?scope="), await ask("?scope=user"), await ask("?scope=tenant")])
    .toEqual(["MissingScope", "MissingScope", "ScopeNotImplemented", "ScopeNotImplemented"]);
  const made = okOf(await make(ROOT_KEY, bodyOf(), "/v1/ssh-keys"));
  const own = okOf(await make(ROOT_KEY));
  const { items } = okOf(await t.call("GET", "/v1/ssh-keys?scope=public", { key: null }));
  expect(items).toContainEqual(made);
  expect(items).not.toContainEqual(own);
});

test("callers other than the user and the root operator can neither see nor delete a user's key", async () => {
  const { member, colleague, acme, tenantless } = callers;
  const { id } = okOf(await make(member.key));
  const path = `/v1/ssh-keys/${id}`;
  const headers = { "x-request-id": randomUUID() };
  const absent = (await t.call("GET", `/v1/ssh-keys/${randomUUID()}`, { key: acme.key, headers })).text;
  for (const key of [colleague.key, acme.key, tenantless.key, null]) {
    const seen = await t.call("GET", path, { key, headers });
    expect([seen.status, seen.text]).toEqual([404, absent]);
    if (key !== null) expect((await t.call("DELETE", path, { key })).status).toBe(404);
    if (key !== null) expect(await idsOf(key)).not.toContain(id);
  }
  expect((await t.call("GET", path)).status).toBe(200);
  expect((await t.call("DELETE", path, { key: member.key })).status).toBe(204);
  expect((await t.call("GET", path, { key: member.key })).status).toBe(404);
});

describe("the credentials of one user for different tenants", () => {
  test("list separate SSH keys, and each may create the same key under the same name", async () => {
    const { acme, sibling, foreign } = callers;
    const body = bodyOf();
    const made = await Promise.all([acme, sibling, foreign].map(async ({ key }) => okOf(await make(key, body))));
    expect(new Set(made.map(({ id }) => id)).size).toBe(3);
    expect(new Set(made.map(({ scope }) => scope.user_id)).size).toBe(1);
    expect(await idsOf(acme.key)).toContain(made[0].id);
    expect(await idsOf(acme.key)).not.toContain(made[1].id);
    for (const { id } of made.slice(1)) {
      expect((await t.call("GET", `/v1/ssh-keys/${id}`, { key: acme.key })).status).toBe(404);
      expect((await t.call("DELETE", `/v1/ssh-keys/${id}`, { key: acme.key })).status).toBe(404);
    }
    expect((await t.call("GET", `/v1/ssh-keys/${made[0].id}`, { key: acme.key })).status).toBe(200);
    expect(await idsOf(ROOT_KEY)).toEqual(expect.arrayContaining(made.map(({ id }) => id)));
    expect((await t.call("DELETE", `/v1/ssh-keys/${made[0].id}`, { key: acme.key })).status).toBe(204);
  });

  test("do not see the SSH keys that the user created without a tenant", async () => {
    const own = okOf(await make(ROOT_KEY));
    expect(await idsOf(callers.acme.key)).not.toContain(own.id);
    expect((await t.call("GET", `/v1/ssh-keys/${own.id}`, { key: callers.acme.key })).status).toBe(404);
  });
});

test("a tenant with keys cannot be deleted; a user's keys are deleted with the user", async () => {
  const { silo_id } = callers.acme;
  const tenant = okOf(await t.call("POST", `/v1/silos/${silo_id}/tenants`, { body: { name: randomUUID() } }));
  const key = okOf(await make(ROOT_KEY, bodyOf(), `/v1/tenants/${tenant.id}/ssh-keys`));
  const path = `/v1/silos/${silo_id}/tenants/${tenant.id}`;
  expect((await t.call("DELETE", path)).body.message).toContain(key.id);
  okOf(await t.call("DELETE", `/v1/ssh-keys/${key.id}`));
  expect((await t.call("DELETE", path)).status).toBe(204);
  const gone = randomUUID();
  await t.db.query("insert into user_account (id, username, is_root) values ($1, $2, false)", [gone, `gone ${gone}`]);
  const made = okOf(await make(callers.tenantless.key));
  await t.db.query("update ssh_key set user_id = $1 where id = $2", [gone, made.id]);
  await t.db.query("delete from user_account where id = $1", [gone]);
  expect((await t.call("GET", `/v1/ssh-keys/${made.id}`)).status).toBe(404);
});
