// Tests the site's boot policy (docs/booting.md, "Boot policy"; docs/reliability.md, S-22).
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { expectInvariants } from "../setup/invariants.ts";
import { newMac, POLICY, putPolicy, seen } from "../setup/machine.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
});
afterAll(() => t.close());
afterEach(() => expectInvariants(t.db));

const show = () => t.call("GET", "/v2/cn-boot-policy");
const etag = async () => (await show()).headers.get("etag") ?? "";
const putIf = (match: string, changes = {}) => putPolicy(t, changes, { headers: { "if-match": match } });

test("the default policy lets every machine enrol, but has no admin network and no image", async () => {
  const own = await openTestControlPlane();
  const { body, headers } = await own.call("GET", "/v2/cn-boot-policy");
  expect(body).toEqual({
    auto_enroll: true,
    allowlist: [],
    enrollment_pi: null,
    enrollment_kernel_args: [],
    admin_network: null,
    rack_networks: [],
    label_arguments: [],
  });
  expect(headers.get("etag")).toBe('"boot-policy-0"');
  const first = await putPolicy(own, {}, { headers: { "if-match": '"boot-policy-0"' } });
  expect([first.status, first.headers.get("etag")]).toEqual([200, '"boot-policy-1"']);
  await own.close();
});

test("a PUT replaces the whole policy; a PUT without one of the older fields gets an error and changes nothing", async () => {
  const full = {
    auto_enroll: false,
    allowlist: [{ kind: "mac_prefix", value: "02:be" }, { kind: "service_tag", value: "TAG1" }],
    enrollment_pi: "pi.1",
    enrollment_kernel_args: ["-v", "noimport=true"],
    admin_network: POLICY.admin_network,
  };
  expect((await t.call("PUT", "/v2/cn-boot-policy", { body: full })).body).toEqual({
    ...full,
    rack_networks: [],
    label_arguments: [],
  });
  expect((await show()).body).toEqual({ ...full, rack_networks: [], label_arguments: [] });
  for (const field of Object.keys(full)) {
    const { [field as keyof typeof full]: _left_out, ...rest } = full;
    const refused = await t.call("PUT", "/v2/cn-boot-policy", { body: rest });
    expect([refused.status, refused.body.message]).toEqual([400, `body.${field}: is required`]);
  }
  const empty = await t.call("PUT", "/v2/cn-boot-policy", { body: {} });
  expect(empty.status).toBe(400);
  // The message lists the first three missing fields.
  for (const field of Object.keys(full).slice(0, 3)) {
    expect(empty.body.message).toContain(`body.${field}: is required`);
  }
  expect((await show()).body).toEqual({ ...full, rack_networks: [], label_arguments: [] });
});

test("only enrollment_pi and admin_network can be null", async () => {
  const none = { ...POLICY, enrollment_pi: null, admin_network: null };
  expect(okOf(await t.call("PUT", "/v2/cn-boot-policy", { body: none }))).toEqual({
    ...none,
    rack_networks: [],
    label_arguments: [],
  });
  for (const field of ["auto_enroll", "allowlist", "enrollment_kernel_args"]) {
    const refused = await t.call("PUT", "/v2/cn-boot-policy", { body: { ...none, [field]: null } });
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining(field)]);
  }
});

describe("If-Match", () => {
  test("a PUT with the ETag of the last read or PUT succeeds", async () => {
    const first = await putIf(await etag(), { enrollment_pi: "a" });
    expect(first.status).toBe(200);
    expect(first.headers.get("etag")).toBe(await etag());
    expect((await putIf(first.headers.get("etag") ?? "", { enrollment_pi: "b" })).status).toBe(200);
  });

  test("a PUT with an older ETag gets 412 and changes nothing", async () => {
    const old = await etag();
    okOf(await putPolicy(t, { enrollment_pi: "mine" }));
    const [policy, current] = [(await show()).body, await etag()];
    const refused = await putIf(old, { enrollment_pi: "theirs" });
    expect([refused.status, refused.body.message]).toEqual([
      412,
      "the boot policy was changed since you read it; read it again",
    ]);
    expect((await show()).body).toEqual(policy);
    expect(await etag()).toBe(current);
  });

  test.each(['"boot-policy-999"', '"x"', "boot-policy-1", 'W/"boot-policy-1"', '"boot-policy--1"', '""'])(
    "a PUT with the invalid ETag %s gets 412",
    async (match) => expect((await putIf(match)).status).toBe(412),
  );

  test("with the value * or without the header, each PUT succeeds and replaces the previous policy", async () => {
    expect((await putIf("*", { enrollment_pi: "star" })).status).toBe(200);
    expect((await putPolicy(t, { enrollment_pi: "none" })).status).toBe(200);
  });

  test("of 8 concurrent writers with the same ETag exactly one succeeds", async () => {
    const match = await etag();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => putIf(match, { enrollment_pi: `writer-${index}` })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(412)]);
    const winner = answers.findIndex(({ status }) => status === 200);
    expect((await show()).body.enrollment_pi).toBe(`writer-${winner}`);
  });

  test("a writer without the header never gets 412", async () => {
    const answers = await Promise.all([1, 2, 3].map((n) => putPolicy(t, { enrollment_pi: `free-${n}` })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ headers }) => headers.get("etag"))).size).toBe(3);
  });

  test("a PUT that is repeated with its Idempotency-Key gets the ETag of the first PUT", async () => {
    const headers = { "idempotency-key": "put once" };
    const first = await putPolicy(t, { enrollment_pi: "once" }, { headers });
    const again = await putPolicy(t, { enrollment_pi: "once" }, { headers });
    expect(again.headers.get("etag")).toBe(first.headers.get("etag"));
    expect(again.body).toEqual(first.body);
    expect(await etag()).toBe(first.headers.get("etag"));
  });
});

const network = (changes: Record<string, unknown>) => ({ admin_network: { ...POLICY.admin_network, ...changes } });

describe("a policy with this invalid value changes nothing and gets an error that names the field:", () => {
  test.each<[string, object]>([
    ["allowlist", { allowlist: [{ kind: "mac_prefix", value: "02:BE" }] }],
    ["allowlist", { allowlist: [{ kind: "mac_prefix", value: "02-be" }] }],
    ["allowlist", { allowlist: [{ kind: "mac_prefix", value: "2:be" }] }],
    ["allowlist", { allowlist: [{ kind: "mac_prefix", value: "02:be:" }] }],
    ["allowlist", { allowlist: [{ kind: "mac_prefix", value: "" }] }],
    ["allowlist", { allowlist: [{ kind: "mac_prefix", value: "02:be:57:00:00:01:02" }] }],
    ["allowlist", { allowlist: [{ kind: "service_tag", value: "" }] }],
    ["allowlist", { allowlist: [{ kind: "service_tag", value: "A".repeat(65) }] }],
    ["allowlist", { allowlist: [{ kind: "service_tag", value: "TAG-1" }] }],
    ["allowlist", { allowlist: [{ kind: "service_tag", value: "TÄG" }] }],
    ["allowlist", { allowlist: [{ kind: "hostname", value: "x" }] }],
    ["allowlist", { allowlist: [{ kind: "service_tag" }] }],
    ["allowlist", { allowlist: [{ kind: "service_tag", value: "A", note: "x" }] }],
    ["allowlist", { allowlist: "02:be" }],
    ["auto_enroll", { auto_enroll: "yes" }],
    ["enrollment_pi", { enrollment_pi: "" }],
    ["enrollment_pi", { enrollment_pi: "a..b" }],
    ["enrollment_pi", { enrollment_pi: "a/b" }],
    ["enrollment_pi", { enrollment_pi: "a b" }],
    ["enrollment_pi", { enrollment_pi: "p".repeat(65) }],
    ["enrollment_kernel_args", { enrollment_kernel_args: ["two words"] }],
    ["enrollment_kernel_args", { enrollment_kernel_args: ["a\nboot"] }],
    ["enrollment_kernel_args", { enrollment_kernel_args: ["${cmdline}"] }],
    ["enrollment_kernel_args", { enrollment_kernel_args: ["a;b"] }],
    ["enrollment_kernel_args", { enrollment_kernel_args: ["a&&b"] }],
    ["enrollment_kernel_args", { enrollment_kernel_args: ["#x"] }],
    ["enrollment_kernel_args[0]: must not set", { enrollment_kernel_args: ["destroy_zpools=true"] }],
    ["enrollment_kernel_args", { enrollment_kernel_args: [""] }],
    ["enrollment_kernel_args", { enrollment_kernel_args: ["a".repeat(257)] }],
    ["enrollment_kernel_args", { enrollment_kernel_args: Array(33).fill("-v") }],
    ["admin_network", network({ ipv4_block: "10.20.0.0/31" })],
    ["admin_network", network({ ipv4_block: "10.20.0.0/33" })],
    ["admin_network", network({ ipv4_block: "fd00::/64" })],
    ["admin_network", network({ ipv4_block: "ten" })],
    ["admin_network", network({ provision_start_ipv4: "10.21.0.10" })],
    ["admin_network", network({ provision_start_ipv4: "10.20.0.0" })],
    ["admin_network", network({ provision_end_ipv4: "10.20.255.255" })],
    ["admin_network", network({ provision_end_ipv4: "10.20.0.9" })],
    ["admin_network", network({ provision_end_ipv4: "10.20.0.010" })],
    ["admin_network", network({ gateway: "10.21.0.1" })],
    ["admin_network", network({ gateway: "10.20.0.0" })],
    ["admin_network", network({ provision_start_ipv4: "10.20.0.1", provision_end_ipv4: "10.20.0.1" })],
    ["admin_network", network({ resolvers: ["dns.example"] })],
    ["admin_network", network({ resolvers: Array(9).fill("10.20.0.2") })],
    ["admin_network", network({ provision_start_ipv4: undefined })],
    ["admin_network", network({ vlan: 4 })],
    ["auto_enrol", { auto_enrol: false }],
  ])("%s %j", async (field, changes) => {
    const before = await etag();
    const answer = await putPolicy(t, changes);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(field);
    expect(await etag()).toBe(before);
  });
});

describe("a policy with this value is accepted:", () => {
  test.each<[object]>([
    [{ allowlist: [{ kind: "mac_prefix", value: "0a" }, { kind: "mac_prefix", value: "02:be:57:00:00:01" }] }],
    [{ allowlist: [{ kind: "service_tag", value: "a" }, { kind: "service_tag", value: "Z".repeat(64) }] }],
    [{ enrollment_pi: "20260901T000000Z_rc.1" }],
    [{ enrollment_pi: "p".repeat(64) }],
    [{ enrollment_kernel_args: ["a".repeat(256), ...Array(31).fill("k=v,w:x@y%z+/-_.")] }],
    [network({ gateway: null })],
    [network({ gateway: "10.20.0.11" })],
    [network({ provision_start_ipv4: "10.20.0.1", provision_end_ipv4: "10.20.255.254" })],
    [network({ resolvers: [] })],
  ])("%j", async (changes) => {
    const answer = await putPolicy(t, changes);
    expect([answer.status, answer.body]).toEqual([200, expect.objectContaining(changes)]);
  });

  test("the largest network with all its addresses is accepted; the lowest address after the gateway is assigned first", async () => {
    const whole = {
      ipv4_block: "10.0.0.0/8",
      provision_start_ipv4: "10.0.0.1",
      provision_end_ipv4: "10.255.255.254",
      gateway: "10.0.0.1",
      resolvers: [],
    };
    expect((await putPolicy(t, { admin_network: whole })).status).toBe(200);
    expect((await seen(t, newMac())).body).toMatchObject({ state: "enrolling", address: "10.0.0.2" });
  });
});

test("the audit entry of a change contains the policy", async () => {
  okOf(await putPolicy(t, { enrollment_pi: "audited" }));
  const { rows } = await t.db.query(
    "select audit->>'action' as action, audit->'payload'->>'enrollment_pi' as pi from transition order by id desc limit 1",
  );
  expect(rows).toEqual([{ action: "boot_policy_set", pi: "audited" }]);
});
