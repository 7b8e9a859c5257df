// Runs opsctl support-bundle against a real control plane that has many secrets.
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { redacted, redactedText } from "../../cli/opsctl/support-bundle/redact.ts";
import { type ComputeFixture, openComputeFixture } from "../compute/compute-fixture.ts";
import { okOf, ROOT_KEY, SECRET_KEY } from "../support/control-plane.ts";
import { needs, present } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { opsctlAt, type OpsctlRunner } from "./at-control-plane.ts";
import { opsctl } from "./opsctl.ts";

const PASSWORD = "canary-password-9f2c";
const USER_DATA = "#cloud-config canary-user-data-77ab";
const CLICKHOUSE_PASSWORD = "canary-clickhouse-31d0";
const SYSINFO_SECRET = "canary-sysinfo-5d1e";
const ROOT_HASH = `$6$canarysalt$${"canaryroothash4c8e".padEnd(86, ".")}`;

let fixture: ComputeFixture;
let at: OpsctlRunner;
let folder: TemporaryFolder;
/** Secrets that must not be in a bundle. */
const canaries = [PASSWORD, USER_DATA, CLICKHOUSE_PASSWORD, SYSINFO_SECRET, ROOT_HASH, ROOT_KEY, SECRET_KEY];

beforeAll(async () => {
  fixture = await openComputeFixture();
  folder = await temporaryFolder("support-bundle");
  at = opsctlAt(fixture.t);
  const { t, tenant, node } = fixture;
  const post = async (path: string, body: unknown) => okOf(await t.call("POST", path, { body }));
  const sysinfo = { root_shadow: SYSINFO_SECRET, boot: { rabbitmq: SYSINFO_SECRET } };
  const pending = await t.register({ hostname: "waiting", sysinfo });
  const user = await post("/v1/system/users", { username: "carol", password: PASSWORD, tenant_id: tenant.tenant_id });
  const session = await post("/v1/auth/login", { username: "carol", password: PASSWORD });
  const { secret } = await t.mintKey("read_only");
  await post(`/v1/cns/${node.server_uuid}/root-password`, { password_hash: ROOT_HASH });
  okOf(await node.call("POST", "/v1/agent/status", { payload: { canary: SYSINFO_SECRET } }));
  const url = `https://reader:${CLICKHOUSE_PASSWORD}@clickhouse.example:8443/`;
  okOf(await t.call("PUT", "/v1/config/metrics.clickhouse_url", { body: { value: url } }));
  await fixture.running({ user_data: USER_DATA });
  // Stores a failure message with secrets, as an agent could write it.
  const made = fixture.create();
  await node.fail(await node.take(), `login with password=${PASSWORD} as ${secret} failed for ${url}`);
  await made;
  canaries.push(
    pending.claim_code,
    pending.poll_token,
    secret,
    session.access_token,
    session.refresh_token,
    tenant.key,
  );
  expect(user.username).toBe("carol");
});
afterAll(async () => {
  await fixture?.t.close();
  await folder?.remove();
});

/** Returns the text of each file in the archive, by file name. Reads the archive with the system's tar. */
function unpacked(archive: string): Map<string, string> {
  const run = (...argv: string[]) => {
    const ran = spawnSync(present("tar"), argv, { encoding: "utf8" });
    expect(ran.error ?? ran.stderr).toBe("");
    return ran.stdout;
  };
  const names = run("-tzf", archive).trim().split("\n");
  const files = names.filter((name) => !name.endsWith("/"));
  return new Map(files.map((name) => [name.split("/").at(-1)!, run("-xzOf", archive, name)]));
}

async function bundle(env?: Record<string, string>) {
  const path = join(folder.path, `${randomUUID()}.tar.gz`);
  const ran = await at.run(["support-bundle", "--file", path], env === undefined ? {} : { env });
  expect(ran.err().replace(/^note: \S+ is missing: .*\n/gm, "")).toBe("");
  expect(ran.code).toBe(0);
  return { path, ran, files: unpacked(path) };
}

test("the bundle contains versions, settings, nodes, operations, jobs, metrics and the audit head", async (context) => {
  needs(context, "tar");
  const { files } = await bundle();
  const json = (name: string) => JSON.parse(files.get(name) ?? expect.fail(`no ${name}`));
  expect(json("manifest.json")).toMatchObject({ opsctl: json("health.json").version, missing: [] });
  expect(json("ready.json")).toEqual({ status: "ready" });
  expect(json("settings.json")).toContainEqual(
    expect.objectContaining({ key: "reservoir.percent_default", value: 0.8 }),
  );
  expect(json("nodes.json")).toMatchObject({ by_state: { approved: 1, pending: 1 } });
  expect(json("operations.json").by_state.succeeded).toBeGreaterThan(0);
  expect(json("jobs.json").by_status).toMatchObject({ completed: 1, failed: 1 });
  expect(json("audit-head.json")).toMatchObject({
    seq: expect.any(Number),
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(json("doctor.json").checks.length).toBeGreaterThan(0);
  expect(files.get("metrics.txt")).toMatch(/^# HELP /m);
});

test("no secret of the fixture is in a file of the bundle, in the bytes of the archive or in the output", async (context) => {
  needs(context, "tar");
  const { path, ran, files } = await bundle();
  const whole = [...files.values(), gunzipSync(await readFile(path)).toString("latin1"), ran.out(), ran.err()].join(
    "\n",
  );
  // The bundle contains the failure message, and its secrets are replaced.
  expect(files.get("jobs.json")).toContain(
    "login with password=[redacted] as [redacted] failed for https://[redacted]@",
  );
  for (const canary of canaries) expect(whole.includes(canary), canary.slice(0, 12)).toBe(false);
});

test("only the owner may read the bundle, and the folder contains no other file", async (context) => {
  needs(context, "tar");
  const { path } = await bundle();
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await readdir(folder.path)).filter((name) => !name.endsWith(".tar.gz"))).toEqual([]);
});

test("a bundle that is made with a limited credential lists its missing sections", async (context) => {
  needs(context, "tar");
  const body = { username: "reader", password: PASSWORD, capabilities: ["system-read"] };
  okOf(await fixture.t.call("POST", "/v1/system/users", { body }));
  const { access_token } = okOf(
    await fixture.t.call("POST", "/v1/auth/login", { key: null, body: { username: "reader", password: PASSWORD } }),
  );
  const { files, ran } = await bundle({ OPSCTL_ENDPOINT: "http://127.0.0.1:8080", OPSCTL_ACCESS_TOKEN: access_token });
  const { missing } = JSON.parse(files.get("manifest.json")!);
  expect(missing.map(({ file }: { file: string }) => file)).toContain("metrics.txt");
  expect(ran.err()).toMatch(/^note: metrics\.txt is missing: /m);
  expect(files.has("metrics.txt")).toBe(false);
  expect(files.has("nodes.json")).toBe(true);
});

test.each(
  [
    ["an unreachable server", {}, 7, /cannot reach/],
    ["no endpoint", { env: {} }, 2, /no endpoint/],
    [
      "an invalid credential",
      {
        server: ({ path }: { path: string }) =>
          path === "/v1/health" ? { body: { status: "ok" } } : { status: 401, body: {} },
      },
      4,
      /401/,
    ],
  ] as const,
)("with %s, the command writes no file and prints the reason", async (_, options, code, argv) => {
  const path = join(folder.path, `${randomUUID()}.tar.gz`);
  const ran = await opsctl(["support-bundle", "--file", path], options);
  expect([ran.code, ran.err()]).toEqual([code, expect.stringMatching(argv)]);
  await expect(stat(path)).rejects.toThrow("ENOENT");
});

test("JSON members with suspicious names are redacted at every depth", () => {
  const names = ["password", "root_shadow", "user_data", "claim_code", "api_key", "poll_token", "Authorization"];
  const value = fc.oneof(fc.constant("canary"), fc.constant(["canary"]), fc.constant({ inner: "canary" }));
  const tree = fc.letrec((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      fc.constant("plain"),
      fc.array(tie("node"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("a", "b", "__proto__"), tie("node")),
      fc.tuple(fc.constantFrom(...names), value).map(([name, held]) => ({ [name]: held })),
    ),
  })).node;
  fc.assert(fc.property(tree, (made) => {
    expect(JSON.stringify(redacted(made))).not.toContain("canary");
  }));
  expect(redacted({ a: { token: null, kind: "x" } })).toEqual({ a: { token: null, kind: "x" } });
});

test.each([
  [`key ${ROOT_KEY}.`, "key [redacted]."],
  ["postgres://berth:s3cret@db:5432/berth", "postgres://[redacted]@db:5432/berth"],
  ["hash $6$salt$abc/def. end", "hash [redacted] end"],
  ["code ABC-1Z9, again", "code [redacted], again"],
  ["Authorization: Bearer abcdef", "Authorization: Bearer [redacted]"],
  [`{"db_password":"x y"}`, `{"db_password":[redacted]}`],
  ["-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----", "[redacted]"],
  [
    "node 7c1f2a60-4f6e-4a52-9d0b-3a6d0a5b1c01 at 2026-11-21T12:00:00Z",
    "node 7c1f2a60-4f6e-4a52-9d0b-3a6d0a5b1c01 at 2026-11-21T12:00:00Z",
  ],
])("in a text, secrets are redacted, and UUIDs and times are not: %s", (text, expected) => {
  expect(redactedText(text)).toBe(expected);
});

test("before any request, `support-bundle --file` refuses a missing directory, and does not create it", async () => {
  const missing = join(folder.path, "missing");
  const ran = await opsctl(["support-bundle", "--file", join(missing, "x.tgz")]);
  expect([ran.code, ran.asked]).toEqual([2, []]);
  expect(ran.err()).toContain(`there is no directory ${missing}`);
  await expect(stat(missing)).rejects.toThrow();
  const taken = await opsctl(["support-bundle", "--file", folder.path]);
  expect(taken.err()).toContain(`--file ${folder.path} is a directory; name a file`);
});
