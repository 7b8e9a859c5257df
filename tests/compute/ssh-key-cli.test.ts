// Tests the ssh-key commands of tenantctl with a real control plane.
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serverOf } from "../cli/at-control-plane.ts";
import { ENDPOINT } from "../cli/fake-environment.ts";
import { type Ran, tenantctl } from "../cli/tenantctl/run.ts";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { newPublicKey } from "./public-key.ts";

let t: TestControlPlane;
let acme: TestTenant;
let folder: TemporaryFolder;
beforeAll(async () => {
  t = await openTestControlPlane();
  acme = await openTenant(t, "acme");
  folder = await temporaryFolder("ssh-key-cli");
});
afterAll(async () => {
  await t.close();
  await folder.remove();
});

function at(argv: readonly string[], key = acme.key): Promise<Ran> {
  const env = { TENANTCTL_ENDPOINT: ENDPOINT, TENANTCTL_API_KEY: key, NO_COLOR: "1" };
  return tenantctl(argv, { env, server: serverOf(t), newId: randomUUID });
}

async function printed(...argv: string[]): Promise<string> {
  const ran = await at(argv);
  expect(ran.code, ran.err()).toBe(0);
  return ran.out();
}

const fileOf = (name: string, text: string) => {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  return path;
};
const create = (...argv: string[]) => at(["ssh-key", "create", ...argv]);

test("a key is created from a line or a file, listed, shown and deleted", async () => {
  const line = newPublicKey("me@laptop");
  const made = JSON.parse(
    await printed("ssh-key", "create", "--name", "laptop", "--public-key", line, "--description", "d", "-o", "json"),
  );
  expect(made).toMatchObject({ name: "laptop", description: "d", public_key: line, scope: { kind: "user" } });
  const text = `id:           ${made.id}\nname:         laptop\nfingerprint:  ${made.fingerprint}\n` +
    `scope:        user\npublic_key:   ${line}\n`;
  for (const name of ["laptop", made.id, made.id.toUpperCase(), made.id.slice(0, 8)]) {
    expect(await printed("ssh-key", "show", name)).toBe(text);
  }
  const file = fileOf("id.pub", `${newPublicKey("in a file")}\n`);
  expect(await printed("ssh-key", "create", "--name", "file", "--public-key-file", file)).toContain("in a file");
  const rows = (await printed("ssh-key", "list")).trimEnd().split("\n").map((row) => row.split(/ {2,}/));
  expect(rows[0]).toEqual(["NAME", "ID", "FINGERPRINT", "SCOPE"]);
  expect(rows).toContainEqual(["laptop", made.id.slice(0, 8), made.fingerprint, "user"]);
  expect(JSON.parse(await printed("ssh-key", "list", "-o", "json")).items).toContainEqual(made);
  expect(await printed("ssh-key", "delete", "laptop", "-o", "json")).toBe(`SSH key ${made.id} deleted.\n`);
  expect((await at(["ssh-key", "show", made.id])).code).toBe(3);
});

test("without exactly one of --public-key and --public-key-file the command fails before any request", async () => {
  const file = fileOf("two.pub", newPublicKey());
  for (const argv of [["--name", "x"], ["--name", "x", "--public-key", newPublicKey(), "--public-key-file", file]]) {
    const ran = await create(...argv);
    expect([ran.code, ran.asked]).toEqual([2, []]);
  }
});

test("create sends no request for a private key, a missing file or a file that is too long", async () => {
  const secret = fileOf("id", "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----\n");
  const long = fileOf("long", "x".repeat(100_000));
  for (const path of [secret, long, join(folder.path, "none")]) {
    const ran = await create("--name", "x", "--public-key-file", path);
    expect(ran.code).not.toBe(0);
    expect(ran.asked).toEqual([]);
    expect(ran.err()).not.toContain("c2VjcmV0");
  }
});

test("if the server rejects a request, the command prints the server's message", async () => {
  const bad = await create("--name", "x", "--public-key", "ssh-ed25519 AAAA");
  expect([bad.code, bad.err()]).toEqual([expect.any(Number), expect.stringContaining("invalid openssh public key: ")]);
  expect(bad.code).not.toBe(0);
});

test("another tenant's keys are not found, by UUID or by name", async () => {
  const other = await openTenant(t, "other");
  const made = JSON.parse(
    await printed("ssh-key", "create", "--name", "mine", "--public-key", newPublicKey(), "-o", "json"),
  );
  for (const name of ["mine", made.id]) {
    for (const verb of ["show", "delete"]) expect((await at(["ssh-key", verb, name], other.key)).code).toBe(3);
  }
  expect((await at(["ssh-key", "list", "-o", "json"], other.key)).out()).toBe('{\n  "items": []\n}\n');
});
