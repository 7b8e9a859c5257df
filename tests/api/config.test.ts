// Tests the cluster settings, and the environment variables that override them.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";

let t: TestControlPlane;
beforeAll(async () => {
  // The test control plane sets these variables by default. They would override settings, so `undefined` removes them.
  t = await openTestControlPlane({
    env: {
      BERTH_LIMITS_CALLER_REQUESTS_PER_MINUTE: undefined,
      BERTH_LIMITS_CALLER_WRITES_PER_MINUTE: undefined,
    },
  });
});
afterAll(() => t.close());

const at = (key: string) => `/v1/config/${key}`;
const set = (key: string, value: unknown) => t.call("PUT", at(key), { body: { value } });
const ED25519 = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGkW0yq1n2n3n4n5n6n7n8n9n0n1n2n3n4n5n6n7n8n9 root@example";
const PROFILES = {
  active: "mine",
  profiles: [{ name: "mine", description: "d", builtin: false, weights: { "score-ram-headroom": 10 } }],
};

const CENTURY_S = 3_155_760_000;
const NIC_LIMITS = { cpu_max: 2, connections_max: 16, packets_per_second_max: 100, bytes_per_second_max: 16_384 };
const NIC_LIMITS_MAX = {
  cpu_max: 2,
  connections_max: 4_294_967_295,
  packets_per_second_max: 1_000_000_000,
  bytes_per_second_max: 10_000_000_000,
};

/**
 * One row for each setting: its key, its default, whether a change needs a restart, values that it accepts, and values
 * that it refuses.
 */
const KEYS: readonly [string, unknown, boolean, readonly unknown[], readonly unknown[]][] = [
  ["provisioner.inprocess_disabled", false, true, [true], [0, "true", null]],
  ["sweeper.interval_secs", 60, true, [1, 3_600], [0, -1, 3_601, 1.5, "60"]],
  ["sweeper.stale_claim_threshold_secs", 600, true, [30, 86_400], [0, 29, 86_401]],
  ["dhcp.reconcile_interval_secs", 300, true, [10, 86_400], [0, 9, 86_401]],
  ["dhcp.lease_gc_threshold_secs", 604_800, true, [3_600, 1e9], [0, 3_599]],
  ["metrics.backend", "memory", true, ["memory", "clickhouse"], ["disk", null]],
  ["metrics.clickhouse_url", null, true, [null, "https://clickhouse.example:8443/"], ["ftp://x/", "no url", 1]],
  ["imds.enabled_default", true, true, [false], ["yes"]],
  ["imds.hop_limit_default", 1, true, [1, 64], [0, 65, 1.5]],
  ["reservoir.enabled_default", true, false, [false], [1]],
  ["reservoir.percent_default", 0.8, false, [0, 1, 1.7, -1], ["0.8", null]],
  ["saga.retention_secs", 2_592_000, true, [3_600, CENTURY_S], [0, 3_599, CENTURY_S + 1]],
  ["log.retention_secs", 31_536_000, false, [2_592_000, CENTURY_S], [0, 2_591_999, CENTURY_S + 1]],
  ["audit.archive_after_secs", 7_776_000, false, [86_400, CENTURY_S], [0, 86_399, CENTURY_S + 1]],
  ["api_key.retention_secs", 2_592_000, false, [86_400, CENTURY_S], [0, 86_399, CENTURY_S + 1]],
  ["webhook.retention_secs", 604_800, false, [3_600, CENTURY_S], [0, 3_599, CENTURY_S + 1]],
  ["placement.profiles", expect.objectContaining({ active: "spread" }), false, [PROFILES], [
    { ...PROFILES, active: "absent" },
    { active: "x", profiles: [] },
    { ...PROFILES, profiles: [{ ...PROFILES.profiles[0], weights: { a: 11 } }] },
  ]],
  ["placement.load_materializer.interval_secs", 60, true, [1], [0]],
  ["placement.load_materializer.staleness_ticks", 3, false, [1], [0]],
  ["placement.load_materializer.clickhouse_url", null, true, ["http://clickhouse.example/"], ["file:///etc/passwd"]],
  ["migration.sync_delta_threshold_bytes", 52_428_800, false, [1], [0, -1]],
  ["migration.max_sync_rounds", 10, false, [1], [0]],
  [
    "fetch.allowed_private",
    [],
    false,
    [[], ["10.20.0.0/16", "fd00::/8"]],
    ["10.0.0.0/8", ["10.0.0.1"], ["10.0.0.0/33"], ["example.com"], [7], null],
  ],
  ["network.nic_limits", [], false, [[], [NIC_LIMITS], [NIC_LIMITS, { ...NIC_LIMITS, cpu_max: null }], [
    NIC_LIMITS_MAX,
  ]], [
    NIC_LIMITS,
    [{ ...NIC_LIMITS, cpu_max: 0 }],
    [{ ...NIC_LIMITS, connections_max: 15 }],
    [{ ...NIC_LIMITS, packets_per_second_max: 99 }],
    [{ ...NIC_LIMITS, bytes_per_second_max: 16_383 }],
    [{ ...NIC_LIMITS, connections_max: 4_294_967_296 }],
    [{ ...NIC_LIMITS, packets_per_second_max: 1_000_000_001 }],
    [{ ...NIC_LIMITS, bytes_per_second_max: 10_000_000_001 }],
    [{ ...NIC_LIMITS, unknown: 1 }],
    [NIC_LIMITS, NIC_LIMITS],
    [{ ...NIC_LIMITS, cpu_max: null }, NIC_LIMITS],
  ]],
  ["cn.root_authorized_keys", [], false, [[], [ED25519]], [["not a key"], [`${ED25519}\nssh-rsa AAAA`], ED25519]],
];

test("the list of settings is an array without an envelope and has all specified settings", async () => {
  const { status, body } = await t.call("GET", "/v1/config");
  expect(status).toBe(200);
  const keys = body.map((entry: { key: string }) => entry.key);
  expect(keys).toEqual(expect.arrayContaining(KEYS.map(([key]) => key)));
  for (const entry of body) {
    expect(Object.keys(entry).sort()).toEqual([
      "default",
      "description",
      "env_override",
      "key",
      "restart_required",
      "value",
    ]);
    expect(entry.value).toEqual(entry.default);
  }
});

describe.each(KEYS)("%s", (key, standard, restart_required, good, bad) => {
  test("shows its default and whether a change needs a restart", async () => {
    expect((await t.call("GET", at(key))).body).toMatchObject({
      key,
      value: standard,
      default: standard,
      restart_required,
      env_override: null,
    });
  });

  test("accepts valid values, shows them, and can be reset to its default", async () => {
    for (const value of good) {
      expect(await set(key, value)).toMatchObject({ status: 200, body: { key, value, default: standard } });
      expect((await t.call("GET", at(key))).body.value).toEqual(value);
    }
    const reset = await t.call("DELETE", at(key));
    expect(reset).toMatchObject({ status: 200, body: { key, value: standard } });
    expect(await t.call("DELETE", at(key))).toMatchObject({ status: 200, body: { value: standard } });
  });

  test("refuses invalid values and keeps its value", async () => {
    for (const value of bad) {
      const answer = await set(key, value);
      expect([value, answer.status]).toEqual([value, 400]);
      expect(answer.body.message).toMatch(/^value/);
    }
    expect((await t.call("GET", at(key))).body.value).toEqual(standard);
  });
});

test.each(["GET", "PUT", "DELETE"])("%s of an unknown key gets 404", async (method) => {
  const body = method === "PUT" ? { value: 1 } : undefined;
  for (const key of ["no.such_key", "toString", "constructor", "__proto__"]) {
    expect((await t.call(method, at(key), { body })).status).toBe(404);
  }
});

test("a body without value, or with unknown fields, gets 400", async () => {
  expect((await t.call("PUT", at("imds.enabled_default"), { body: {} })).status).toBe(400);
  const answer = await t.call("PUT", at("imds.enabled_default"), { body: { value: false, default: false } });
  expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining("default") } });
});

test("the error about a retention that is too long names the field and the maximum", async () => {
  expect(await set("api_key.retention_secs", Number.MAX_SAFE_INTEGER)).toMatchObject({
    status: 400,
    body: { message: `value: must be <= ${CENTURY_S}` },
  });
});

test("setting and resetting a value are audited; a refused request is not", async () => {
  const head = async () => (await t.call("GET", "/v1/audit/events?limit=1")).body.head.seq;
  const before = await head();
  await set("imds.hop_limit_default", 3);
  await set("imds.hop_limit_default", 99);
  await t.call("DELETE", at("imds.hop_limit_default"));
  const { events } = (await t.call("GET", `/v1/audit/events?after_seq=${before}`)).body;
  expect(events.map((event: { action: string }) => event.action)).toEqual(["config_set", "config_reset"]);
  expect(events[0].payload).toEqual({ key: "imds.hop_limit_default", value: 3 });
});

test("an environment variable overrides the stored value without deleting it, and the answer names the variable", async () => {
  await set("reservoir.percent_default", 0.4);
  const env = { BERTH_RESERVOIR_PERCENT_DEFAULT: "0.1", BERTH_METRICS_BACKEND: "clickhouse" };
  const other = await openTestControlPlane({ databaseUrl: t.databaseUrl, env });
  expect((await other.call("GET", at("reservoir.percent_default"))).body).toMatchObject({
    value: 0.1,
    default: 0.8,
    env_override: "BERTH_RESERVOIR_PERCENT_DEFAULT",
  });
  expect((await other.call("GET", at("metrics.backend"))).body.value).toBe("clickhouse");
  const { body } = await other.call("PUT", at("reservoir.percent_default"), { body: { value: 0.5 } });
  expect(body.value).toBe(0.1);
  await other.close();
  expect((await t.call("GET", at("reservoir.percent_default"))).body.value).toBe(0.5);
  await t.call("DELETE", at("reservoir.percent_default"));
});

test("an invalid value in a variable stops the start, and the error names the variable", async () => {
  const start = openTestControlPlane({ databaseUrl: t.databaseUrl, env: { BERTH_SWEEPER_INTERVAL_SECS: "0" } });
  await expect(start).rejects.toThrow("BERTH_SWEEPER_INTERVAL_SECS");
});

test.each([
  [{ BERTH_ROOT_KEY: "secret" }, "opsk_<12 characters>_<32 characters>"],
  [{ PORT: "80a" }, "PORT"],
  [{ PORT: "65536" }, "PORT"],
  [{ BERTH_LAB: "yes" }, "BERTH_LAB"],
  [{ BERTH_APPROVE_PER_MINUTE: "0" }, "BERTH_APPROVE_PER_MINUTE"],
  [{ BERTH_TRUSTED_PROXIES: "10.0.0.0/33" }, "BERTH_TRUSTED_PROXIES"],
  [{ BERTH_LOG_LEVEL: "loud" }, "BERTH_LOG_LEVEL"],
])("the environment %j is refused with an error that contains %j", (env, text) => {
  expect(() => readConfig(env)).toThrow(text);
});

test("the error about a malformed root key does not contain the key", () => {
  expect(() => readConfig({ BERTH_ROOT_KEY: "hunter2hunter2" })).not.toThrow("hunter2");
  expect(readConfig({ BERTH_ROOT_KEY: ROOT_KEY }).rootKey).toBe(ROOT_KEY);
});
