// Tests the commands of `opsctl cn boot` and `opsctl pi`.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Roster } from "../../src/contract/boot.ts";
import type { FakeAnswer, Server } from "./fake-environment.ts";
import { opsctl } from "./opsctl.ts";
import { bootPolicy, bootRecord, MAC, NODE_ID, PI } from "./records.ts";

const record: Server = () => ({ body: bootRecord() });

test("`boot list` prints its columns, or a note if no record exists", async () => {
  const items = [bootRecord(), bootRecord({ mac: "02:00:00:00:00:02", state: "discovered", address: null })];
  const ran = await opsctl(["cn", "boot", "list"], { server: () => ({ body: { items } }) });
  expect(ran.out()).toBe(
    `MAC                STATE       ADDRESS    HOSTNAME  SERVER_UUID  ASSIGNED_PI  RESCUE
02:00:00:00:00:01  enrolling   10.7.0.10  -         -            -            off
02:00:00:00:00:02  discovered  -          -         -            -            off
`,
  );
  const none = await opsctl(["cn", "boot", "list", "--state", "enrolled"], { server: () => ({ body: { items: [] } }) });
  expect(none.out()).toBe("(no boot records)\n");
  expect(none.asked[0]).toMatchObject({ path: "/v2/cn-boot", query: { state: "enrolled" } });
});

test("`boot list` and `boot show` mark a machine without a boot file, and escape its vendor class", async () => {
  const client = {
    arch: 11,
    architecture: "ARM 64-bit UEFI",
    vendor_class: "PXE\u001b[2J",
    user_class: null,
    guid: "00112233445566778899aabbccddeeff",
    relay: null,
    has_boot_file: false,
    seen_at: "2026-11-21T10:00:00Z",
    seen_by: "key-1",
  };
  const items = [{ ...bootRecord(), client: null }, { ...bootRecord({ mac: "02:00:00:00:00:02" }), client }];
  const listed = await opsctl(["cn", "boot", "list"], { server: () => ({ body: { items } }) });
  expect(listed.out()).toMatch(/RESCUE +BOOT_FILE\n.* off +-\n.* off +none for ARM 64-bit UEFI\n$/);
  const ran = await opsctl(["cn", "boot", "show", MAC], { server: () => ({ body: items[1] }) });
  expect(ran.out()).toMatch(/last_request: +2026-11-21T10:00:00Z to key-1\narchitecture: +ARM 64-bit UEFI \(11\)\n/);
  expect(ran.out()).toMatch(/boot_file: +none for ARM 64-bit UEFI\nvendor_class: +PXE\\x1b\[2J\n/);
});

test.each([["02-00-00-00-00-01"], ["020000000001"], ["0200.0000.0001"], ["02 00 00 00 00 01"], ["02:00:00:00:00:01"]])(
  "a MAC in the notation %s is accepted",
  async (text) => {
    const ran = await opsctl(["cn", "boot", "show", text], { server: record });
    expect(ran.asked[0]!.path).toBe(`/v2/cn-boot/${MAC}`);
    expect(ran.out()).toContain("address:      10.7.0.10\n");
  },
);

test("an invalid MAC is rejected before any request", async () => {
  const ran = await opsctl(["cn", "boot", "authorize", "02:00:00:00:00"], { server: record });
  expect([ran.code, ran.asked.length]).toEqual([2, 0]);
});

test.each([
  [["authorize"], "authorize", `Authorized ${MAC} (state=enrolling, address 10.7.0.10)`],
  [["reactivate"], "reactivate", `Reactivated ${MAC} (state=enrolling)`],
  [["rescue"], "rescue", `Rescue is off for ${MAC}`],
  [["rescue", "--clear"], "rescue/clear", `Rescue is off for ${MAC}`],
  [["decommission", "--yes"], "decommission", `Decommissioned ${MAC} (state=enrolling)`],
])("`boot` %j posts %s and prints the result", async ([verb, ...rest], path, text) => {
  const ran = await opsctl(["cn", "boot", verb!, MAC, ...rest], { server: record });
  expect(ran.asked).toMatchObject([{ method: "POST", path: `/v2/cn-boot/${MAC}/${path}` }]);
  expect(ran.out()).toBe(`${text}\n`);
});

test("`boot assign` sends the image and prints the result", async () => {
  const server: Server = () => ({ body: bootRecord({ assigned_pi: PI }) });
  const ran = await opsctl(["cn", "boot", "assign", MAC, "--pi", PI], { server });
  expect(ran.asked[0]).toMatchObject({ path: `/v2/cn-boot/${MAC}/assign`, body: { platform_image: PI } });
  expect(ran.out()).toBe(`Assigned platform image ${PI} to ${MAC}; applied at its next netboot\n`);
});

test("`boot arguments` replaces or clears the arguments and the console of a record, and refuses an unknown console", async () => {
  const server: Server = ({ body }) => ({ body: bootRecord(body as object) });
  const set = await opsctl(
    ["cn", "boot", "arguments", MAC, "--kernel-arg", "-v", "--kernel-arg", "a=1", "--console", "ttyb:57600"],
    { server },
  );
  expect(set.asked[0]).toMatchObject({
    method: "PUT",
    path: `/v2/cn-boot/${MAC}/arguments`,
    body: { kernel_args: ["-v", "a=1"], console: { port: "ttyb", speed: 57_600 } },
  });
  expect(set.out()).toBe(`Arguments of ${MAC}: -v a=1 console ttyb:57600; applied at its next netboot\n`);
  const cleared = await opsctl(["cn", "boot", "arguments", MAC, "--clear"], { server });
  expect(cleared.asked[0]).toMatchObject({ body: { kernel_args: [], console: null } });
  expect(cleared.out()).toBe(`Arguments of ${MAC}: none of its own; applied at its next netboot\n`);
  for (const argv of [[], ["--clear", "--console", "text"], ["--console", "com1"], ["--console", "ttyb:fast"]]) {
    expect((await opsctl(["cn", "boot", "arguments", MAC, ...argv], { server })).code).toBe(2);
  }
});

test("`boot policy arguments` sets, replaces and clears the arguments of one label", async () => {
  const { server, held } = policyServer();
  const run = async (...argv: string[]) => {
    const ran = await opsctl(["cn", "boot", "policy", "arguments", ...argv], { server });
    expect(ran.err()).toBe("");
    return held.policy.label_arguments;
  };
  const first = { label: "model=r640", kernel_args: ["a=1"], console: null };
  const second = { label: "rack=a3", kernel_args: [], console: { port: "ttyb", speed: 115_200 } };
  await run("model=r640", "--kernel-arg", "a=0");
  await run("rack=a3", "--console", "ttyb");
  expect(await run("model=r640", "--kernel-arg", "a=1")).toEqual([first, second]);
  expect((await opsctl(["cn", "boot", "policy", "show"], { server })).out()).toMatch(
    /arguments of rack=a3: +console ttyb:115200\n/,
  );
  expect(await run("model=r640", "--clear")).toEqual([second]);
  expect((await opsctl(["cn", "boot", "policy", "arguments", "rack", "--clear"], { server })).code).toBe(2);
});

const AGGREGATE = { name: "aggr0", mode: "active", macs: ["02:00:00:00:00:02", "02:00:00:00:00:01"] } as const;
const ROSTER: Roster = [
  { hostname: "n1", macs: [MAC, "02:00:00:00:00:99"], nic_tags: ["admin"], aggregate: undefined },
  { hostname: "n2", macs: [MAC], nic_tags: [], aggregate: { ...AGGREGATE, macs: [...AGGREGATE.macs] } },
  { hostname: "n3", macs: ["02:00:00:00:00:03"], nic_tags: [], aggregate: undefined },
];

test("`boot declared` finds each record by its boot MAC (an aggregate's first member), and shows whether it has converged", async () => {
  const n1 = bootRecord({ hostname: "n1", server_uuid: NODE_ID });
  const live = { ...n1.networking!, hostname: "n1", nic_tags: ["admin"] };
  const items = [{ ...n1, networking: live }, bootRecord({ mac: "02:00:00:00:00:02", hostname: "old" })];
  const ran = await opsctl(["cn", "boot", "declared"], {
    server: ({ path }) => ({ body: path === "/v2/cn-boot-roster" ? ROSTER : { items } }),
  });
  const rows = ran.out().trimEnd().split("\n").map((line) => line.split(/ {2,}/));
  expect(rows).toEqual([
    ["BOOT_MAC", "HOSTNAME", "NIC_TAGS", "AGGREGATE", "STATE", "ADDRESS", "SERVER_UUID", "CONVERGED"],
    [MAC, "n1", "admin", "-", "enrolling", "10.7.0.10", NODE_ID, "yes"],
    [
      "02:00:00:00:00:02",
      "n2",
      "-",
      `aggr0 (active): ${AGGREGATE.macs.join(" ")}`,
      "enrolling",
      "10.7.0.10",
      "-",
      "no",
    ],
    ["02:00:00:00:00:03", "n3", "-", "-", "(not seen)", "-", "-", "-"],
  ]);
  expect(ran.err()).toContain("opsctl cn boot converge");
  expect(ran.asked.find(({ path }) => path === "/v2/cn-boot")?.query).toMatchObject({ declared: "true" });
});

test("`boot converge` lists the rewritten and the missing records", async () => {
  const body = { converged: [MAC], unchanged: ["02:00:00:00:00:02"], unknown: ["02:00:00:00:00:03"] };
  const ran = await opsctl(["cn", "boot", "converge"], { server: () => ({ body }) });
  expect(ran.asked[0]).toMatchObject({ method: "POST", path: "/v2/cn-boot-roster/converge" });
  expect(ran.out()).toBe(
    `Converged: 1 rewritten, 1 as declared, 1 not seen yet
  02:00:00:00:00:01  rewritten; applied at its next netboot
  02:00:00:00:00:03  has no boot record yet
`,
  );
});

function file(name: string, text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "berth-document-")), name);
  writeFileSync(path, text);
  return path;
}

test("`boot roster apply` sends the file unchanged", async () => {
  const server: Server = ({ body }) => ({ body });
  const ran = await opsctl(["cn", "boot", "roster", "apply", "-f", file("r.json", JSON.stringify(ROSTER))], { server });
  expect(ran.asked[0]).toMatchObject({
    method: "PUT",
    path: "/v2/cn-boot-roster",
    body: JSON.parse(JSON.stringify(ROSTER)),
  });
  expect(ran.out()).toBe("Declared machines: 3\n");
});

test("`boot roster apply --if-match` replaces only the version that `boot roster show` printed", async () => {
  const etag = `"boot-roster-${"a".repeat(32)}"`;
  const server: Server = ({ method, headers }) =>
    method === "GET"
      ? { body: [], headers: { etag } }
      : headers["if-match"] === etag
      ? { body: [] }
      : { status: 412, body: { message: "the roster was changed since you read it" } };
  const shown = await opsctl(["cn", "boot", "roster", "show"], { server });
  expect(shown.out()).toBe("[]\n");
  const version = /Version (boot-roster-[0-9a-f]{32});/.exec(shown.err())?.[1];
  const argv = ["cn", "boot", "roster", "apply", "-f", file("r.json", "[]"), "--if-match"];
  expect((await opsctl([...argv, version!], { server })).code).toBe(0);
  const late = await opsctl([...argv, "boot-roster-0"], { server });
  expect([late.code, late.err()]).toEqual([5, expect.stringContaining("the roster was changed since you read it")]);
});

/** Returns a server whose policy other operators change. It applies one change of `rivals` before each PUT. */
function policyServer(...rivals: object[]) {
  const held = { policy: bootPolicy(), version: 3 };
  const server: Server = ({ method, path, headers, body }): FakeAnswer => {
    if (path === "/v2/platform-images") return { body: { items: [] } };
    const etag = () => `"boot-policy-${held.version}"`;
    if (method === "GET") return { body: held.policy, headers: { etag: etag() } };
    const rival = rivals.shift();
    if (rival !== undefined) {
      held.policy = { ...held.policy, ...rival };
      held.version += 1;
    }
    if (headers["if-match"] !== etag()) return { status: 412, body: { message: "changed since" } };
    held.policy = body as typeof held.policy;
    held.version += 1;
    return { body: held.policy, headers: { etag: etag() } };
  };
  return { server, held };
}

test("`boot policy set` keeps the fields that it does not set", async () => {
  const { server, held } = policyServer();
  const argv = ["--auto-enroll", "false", "--enrollment-kernel-arg", "console=ttya", "--enrollment-kernel-arg", "-v"];
  const ran = await opsctl(["cn", "boot", "policy", "set", ...argv], { server });
  expect(ran.code).toBe(0);
  expect(held.policy).toEqual(bootPolicy({ auto_enroll: false, enrollment_kernel_args: ["console=ttya", "-v"] }));
});

test("`boot policy set` keeps fields that another operator changed at the same time", async () => {
  const rivals = [{ auto_enroll: false }, { enrollment_kernel_args: ["a"] }];
  const { server, held } = policyServer(...rivals);
  const ran = await opsctl(["cn", "boot", "policy", "set", "--enrollment-pi", "new"], { server });
  expect(ran.code).toBe(0);
  expect(held.policy).toEqual(bootPolicy({ auto_enroll: false, enrollment_kernel_args: ["a"], enrollment_pi: "new" }));
  expect(ran.err()).toContain("new is not staged on any booter");
});

test("`boot policy set` exits 5 if another operator changes the policy before each of its attempts", async () => {
  const { server, held } = policyServer(...Array.from({ length: 100 }, () => ({ auto_enroll: false })));
  const ran = await opsctl(["cn", "boot", "policy", "set", "--enrollment-pi", "new"], { server });
  expect([ran.code, held.policy.enrollment_pi]).toEqual([5, PI]);
});

test("`boot policy set` clears the kernel arguments if it gets an empty argument, and is a usage error without options", async () => {
  const { server, held } = policyServer({ enrollment_kernel_args: ["a"] });
  await opsctl(["cn", "boot", "policy", "set", "--enrollment-kernel-arg", ""], { server });
  expect(held.policy.enrollment_kernel_args).toEqual([]);
  expect((await opsctl(["cn", "boot", "policy", "set"], { server })).code).toBe(2);
});

test("`boot policy show` prints the version that `boot policy apply` accepts as --if-match", async () => {
  const { server, held } = policyServer();
  expect((await opsctl(["cn", "boot", "policy", "show"], { server })).out()).toContain(
    "version:                 boot-policy-3\n",
  );
  expect(JSON.parse((await opsctl(["cn", "boot", "policy", "show", "--json"], { server })).out())).toEqual(
    bootPolicy(),
  );
  const path = file("p.json", JSON.stringify(bootPolicy({ auto_enroll: false })));
  const argv = ["cn", "boot", "policy", "apply", "-f", path, "--if-match"];
  expect((await opsctl([...argv, "boot-policy-2"], { server })).code).toBe(5);
  const ran = await opsctl([...argv, "boot-policy-3"], { server });
  expect(ran.out()).toBe("Boot policy applied; changed: auto_enroll\n");
  expect(held.policy.auto_enroll).toBe(false);
});

test("`boot policy apply` reads JSON from standard input and TOML from a file", async () => {
  const { server, held } = policyServer();
  const typed = JSON.stringify(bootPolicy({ enrollment_pi: "a" }));
  await opsctl(["cn", "boot", "policy", "apply", "-f", "-"], { server, typed });
  expect(held.policy.enrollment_pi).toBe("a");
  const toml = 'enrollment_pi = "b"\n[[allowlist]]\nkind = "mac_prefix"\nvalue = "02:00"\n';
  await opsctl(["cn", "boot", "policy", "apply", "-f", file("p.toml", toml)], { server });
  expect(held.policy).toEqual({ enrollment_pi: "b", allowlist: [{ kind: "mac_prefix", value: "02:00" }] });
});

test.each([["p.json", "{"], ["p.toml", "a ="]])(
  "`boot policy apply` of a file %s that does not parse is a usage error",
  async (name, text) => {
    const ran = await opsctl(["cn", "boot", "policy", "apply", "-f", file(name, text)], policyServer());
    expect([ran.code, ran.asked.length]).toEqual([2, 0]);
  },
);

test("a PUT whose response was lost is repeated with the same Idempotency-Key", async () => {
  const { server } = policyServer();
  let cut = true;
  const flaky: Server = (asked, signal) => {
    if (asked.method === "PUT" && cut) {
      cut = false;
      throw new TypeError("fetch failed");
    }
    return server(asked, signal);
  };
  const ran = await opsctl(["cn", "boot", "policy", "set", "--auto-enroll", "false"], { server: flaky });
  const keys = ran.asked.filter(({ method }) => method === "PUT").map(({ headers }) => headers["idempotency-key"]);
  expect([ran.code, keys.length, new Set(keys).size]).toEqual([0, 2, 1]);
});

test("`pi list` prints its columns", async () => {
  const items = [{ stamp: PI, kind: "smartos", staged_at: "2026-11-21T10:00:00Z", staged_by: "k1" }];
  const ran = await opsctl(["pi", "list"], { server: () => ({ body: { items } }) });
  expect(ran.out()).toBe(
    `STAMP             KIND     STAGED_AT             STAGED_BY\n${PI}  smartos  2026-11-21T10:00:00Z  k1\n`,
  );
  expect((await opsctl(["pi", "list"], { server: () => ({ body: { items: [] } }) })).out()).toBe(
    "(no platform images)\n",
  );
});
