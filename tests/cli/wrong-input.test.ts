// Errors about input name the field, the value and the rule, and state what to write instead.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { instancesText, movedText } from "../../cli/opsctl/cn/remaining-text.ts";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { openTenant } from "../tenancy/tenant.ts";
import { opsctlAt, type OpsctlRunner } from "./at-control-plane.ts";
import { ENDPOINT } from "./fake-environment.ts";
import type { ManifestKind } from "../../cli/internal/manifest/kind.ts";
import { parseManifest } from "../../cli/internal/manifest/read.ts";
import { SITE } from "../../cli/opsctl/manifest/kinds.ts";
import { KINDS as PROJECT_KINDS } from "../../cli/tenantctl/manifest/kind.ts";
import { opsctl } from "./opsctl.ts";
import { PROJECT, TENANT } from "./tenantctl/records.ts";
import { serving, tenantctl, TOKEN_ENV } from "./tenantctl/run.ts";

let t: TestControlPlane;
let at: OpsctlRunner;
beforeAll(async () => {
  t = await openTestControlPlane();
  at = opsctlAt(t);
});
afterAll(() => t?.close());

test("the error for a tenant's key names the tenant, and says that commands for the fleet need an operator's key", async () => {
  const { key } = await openTenant(t, "web");
  const env = { OPSCTL_ENDPOINT: ENDPOINT, OPSCTL_API_KEY: key };
  for (const argv of ["cn list", "doctor"]) {
    const ran = await at.run(argv, { env });
    expect(ran.code).toBe(3);
    expect(ran.err()).toMatch(
      /^error: Not Found; this key belongs to tenant \S+, and commands for the fleet need an operator's key \(NotFound, /,
    );
  }
  const missing = await at.run("instance show 3f2a9c1e-0000-4000-8000-000000000001");
  expect([missing.code, missing.err()]).toEqual([3, expect.not.stringContaining("operator's key")]);
});

test.each([
  ["instance.create_wait_secs", "abc", "takes seconds: a whole number, such as 300, not abc (BadRequest"],
  ["instance.create_wait_secs", "10m", "takes seconds: a whole number, such as 600, not 10m (BadRequest"],
  ["instance.create_wait_secs", "-1", "must be >= "],
  ["image.uploaded_bytes_max", "20GB", "takes bytes: a whole number, or a size such as 20GiB, not 20GB (BadRequest"],
  [
    "quota.project_default.memory_bytes",
    "x",
    "takes bytes: a whole number, or a size such as 20GiB, not x (BadRequest",
  ],
  ["migration.max_sync_rounds", "few", "must be a number, not few (BadRequest"],
])(
  "the error of `config set %s %s` names the setting, its unit or the rule, and the value",
  async (key, value, rule) => {
    const message = `error: ${key} ${rule}`;
    const ran = await at.run(["config", "set", key, "--", value]);
    expect(ran.code).toBe(1);
    expect(ran.err()).toContain(message);
  },
);

test("if a setting is a list, the error of `config set` for a text asks for an array and does not mention a length", async () => {
  const ran = await at.run("config set network.ntp_servers 1.2.3.4");
  expect(ran.err()).toMatch(/^error: network\.ntp_servers must be an array, not 1\.2\.3\.4 \(/);
});

test.each([
  ["--from", "yesterday"],
  ["--to", "2026-02-30"],
  ["--to", "2026-9-1"],
])("`usage` %s %s is a usage error, because the value is not a day", async (flag, value) => {
  const message = `error: ${flag} ${value} is not a day; write 2026-09-01\n`;
  const operator = await opsctl(["usage", flag, value]);
  const tenant = await tenantctl(["usage", "--project", PROJECT, flag, value], { env: TOKEN_ENV });
  for (const ran of [operator, tenant]) expect([ran.code, ran.err(), ran.asked]).toEqual([2, message, []]);
});

describe("manifests", () => {
  const apply = (typed: string) =>
    tenantctl(["apply", "-f", "-", "--project", PROJECT], { env: TOKEN_ENV, typed, server: serving({}) });

  test.each([
    ["apiVersion: v1\nkind: vpc\n", "unknown list apiVersion; a manifest has ssh_keys, vpcs, "],
    ["kind: vpc\nmetadata: { name: main }\n", "; write lists such as vpcs: [{ name: … }], not kind: VPC\n"],
    ["subnet: []\n", "; did you mean subnets?\n"],
    ["instances: [{ name: web1, memory: 4GiB }]\n", "; did you mean memory_bytes?\n"],
    ["instances: [{ naem: web1 }]\n", "; did you mean name?\n"],
    [
      "instances: [{ name: web1, image: i, vpc: v, primary_subnet: s, cpu: 1, memory_bytes: '8' }]\n",
      "instances[0]: memory_bytes 8 has no unit and would be 8B; did you mean 8GiB?\n",
    ],
  ])("%j is refused with a hint", async (text, message) => {
    const ran = await apply(text);
    expect([ran.code, ran.asked.filter(({ path }) => path !== `/v1/tenants/${TENANT}/projects`)]).toEqual([2, []]);
    expect(ran.err()).toContain(message);
  });

  test("a small number in a field of bytes needs no unit, because an export prints sizes as numbers", async () => {
    const instance = { name: "web1", image: "i", vpc: "v", primary_subnet: "s", cpu: 1, memory_bytes: 8 };
    const of_project = { instances: [{ ...instance, disk_bytes: 100_000 }] };
    const quota = { silo: "acme", tenant: "web", cpu_limit: 1, memory_bytes: 0, disk_bytes: 1_023, instance_limit: 1 };
    const read = async (manifest: object, kinds: readonly ManifestKind[]) =>
      (await parseManifest([["file", JSON.stringify(manifest)]], kinds)).entries.map(({ values }) => values);
    expect(await read(of_project, PROJECT_KINDS)).toEqual(of_project.instances);
    expect(await read({ quotas: [quota] }, SITE.kinds)).toMatchObject([quota]);
    await expect(read({ quotas: [{ ...quota, disk_bytes: 1.5 }] }, SITE.kinds)).rejects.toThrow("disk_bytes must be");
    await expect(read({ quotas: [{ ...quota, disk_bytes: -1 }] }, SITE.kinds)).rejects.toThrow("disk_bytes must be");
  });
});

test("`cn auto-approve open` accepts a number of seconds or a duration", async () => {
  const body = { open: true, opened_at: "t", expires_at: "t", count: null, remaining: null };
  for (const [value, duration_secs] of [["10m", 600], ["1h30m", 5_400], ["600", 600]] as const) {
    const ran = await opsctl(["cn", "auto-approve", "open", "--duration-secs", value], { server: () => ({ body }) });
    expect(ran.asked[0]!.body).toMatchObject({ duration_secs });
  }
  const ran = await opsctl(["cn", "auto-approve", "open", "--duration-secs", "soon"]);
  expect(ran.err()).toContain("It must be a number of seconds, at least 1, or a duration such as 90s, 30m or 12h.");
});

test.each([
  [Object.assign(new Error("Unable to connect. Is the computer able to access the url?"), { code: "ECONNREFUSED" })],
  [new Error("client error (Connect): tcp connect error: Connection refused (os error 111)")],
])("a refused connection has one text in every runtime", async (cause) => {
  const ran = await opsctl(["cn", "list"], {
    server: () => {
      throw new TypeError("fetch failed", { cause });
    },
  });
  expect([ran.code, ran.err()]).toEqual([7, `error: cannot reach ${ENDPOINT}: connection refused\n`]);
});

test.each([
  [["instance", "restart", "web1"], "unknown command 'restart'\n(Did you mean reboot?)"],
  [
    ["ssh-key", "create", "--name", "k", "--file", "id.pub"],
    "unknown option '--file'\n(Did you mean --public-key-file?)",
  ],
  [["image", "search", "ubuntu"], "image search takes no arguments, got: ubuntu; see: tenantctl image search --help"],
])("the error of %j names the word that was probably meant", async (argv, message) => {
  const ran = await tenantctl(argv);
  expect([ran.code, ran.asked]).toEqual([2, []]);
  expect(ran.err()).toContain(message);
});

test("after the number 1 the noun is singular", () => {
  expect([0, 1, 2].map(instancesText)).toEqual(["0 instances", "1 instance", "2 instances"]);
  expect(movedText(1, 2)).toBe("1 node and moved 2 instances from it");
  expect(movedText(2, 1)).toBe("2 nodes and moved 1 instance from them");
});
