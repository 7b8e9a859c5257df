// Tests the names that pages show in place of ids, and the texts that say what a boot policy or a roster changes.
import { afterEach, describe, expect, test, vi } from "vitest";
import { actorText } from "../../console/core/audit-actor.ts";
import { objectText } from "../../console/core/audit-object.ts";
import { policyChanges, rosterChanges } from "../../console/core/boot-changes.ts";
import { mostSpecific, nameQuery, pageOf, shortId } from "../../console/core/names.ts";
import type { BootPolicy, Roster } from "../../src/contract/boot.ts";

test.each([
  ['FloatingIp::"01a22c07-54f2-7e5b-85aa-936f41d3166c"', "floating ip …41d3166c"],
  ['Cn::"b964e81d-9cdc-48b3-b80e-3fa4039f110e"', "node …039f110e"],
  ['Setting::"api_key.retention_secs"', "setting api_key.retention_secs"],
  ['BootRecord::"52:54:00:2b:6e:77"', "boot record 52:54:00:2b:6e:77"],
  ["Fleet", "Fleet"],
  [null, ""],
])("the object %s of an audit event is shown as '%s'", (resource, text) => {
  expect(objectText(resource)).toBe(text);
});

describe("the name of an instance", () => {
  afterEach(() => void vi.unstubAllGlobals());
  const nameAfter = async (status: number, body: unknown) => {
    vi.stubGlobal("fetch", () => Promise.resolve(Response.json(body, { status })));
    return await nameQuery({ scope: "instance", id: "0198c2f4-aaaa" }).read(new AbortController().signal);
  };

  test("is read from the server; a deleted instance has no name, and its read does not fail", async () => {
    expect(await nameAfter(200, { name: "web1" })).toBe("web1");
    expect(await nameAfter(404, { message: "Not Found" })).toBeNull();
  });

  test("cannot be read if the server gives no valid answer", async () => {
    await expect(nameAfter(503, { message: "overloaded" })).rejects.toMatchObject({ status: 503 });
  });
});

const refs = [
  { scope: "tenant", id: "t1" },
  { scope: "cn", id: "c1" },
  { scope: "instance", id: "0198c2f4-aaaa" },
  { scope: "vpc", id: "v1" },
  { scope: "project", id: "p1" },
];

describe("the objects of an operation", () => {
  test("the most specific object is selected; an object of an unknown kind is the least specific", () => {
    expect(mostSpecific(refs)?.scope).toBe("instance");
    expect(mostSpecific([{ scope: "fleet", id: "f" }, { scope: "tenant", id: "t" }])?.scope).toBe("tenant");
    expect(mostSpecific([])).toBeUndefined();
  });

  test.each([
    ["project", "p1", "/t/t1/p/p1/instances"],
    ["disk", "d1", "/instances/0198c2f4-aaaa"],
    ["subnet", "s1", "/vpcs/v1"],
    ["route_table", "r1", "/vpcs/v1"],
    ["nat_gateway", "n1", "/nat-gateways/n1"],
    ["cn", "c1", "/nodes/c1"],
    ["fleet", "f1", null],
  ])("the page of a %s (%s) is %s", (scope, id, page) => {
    expect(pageOf({ scope, id }, refs)).toBe(page);
  });

  test("a project has no page if its tenant is unknown, and a disk has no page if its instance is unknown", () => {
    expect(pageOf({ scope: "project", id: "p1" })).toBeNull();
    expect(pageOf({ scope: "disk", id: "d1" })).toBeNull();
  });

  test("a short id has the last characters, because ids that were created together begin alike", () => {
    expect(shortId("01a21fb2-f802-7744-bae5-956cea4cb014")).toBe("…ea4cb014");
    expect(shortId("7")).toBe("7");
  });
});

describe("the actor of an audit event", () => {
  const names = new Map([["u1", "alice"]]);
  test.each(
    [
      [{ kind: "operator", user_id: "u1", is_root: false }, "alice"],
      [{ kind: "operator", user_id: "u2", is_root: false }, "user u2"],
      [{ kind: "operator", user_id: "u2", is_root: true }, "root"],
      [{ kind: "api_key", key_id: "k1", user_id: "u1" }, "alice, key k1"],
      [{ kind: "system" }, "system"],
    ] as const,
  )("%o is shown as %s", (actor, text) => expect(actorText(actor, names)).toBe(text));
});

describe("changes to confirm", () => {
  const policy: BootPolicy = {
    auto_enroll: false,
    allowlist: [],
    enrollment_pi: null,
    enrollment_kernel_args: [],
    admin_network: null,
    rack_networks: [],
    label_arguments: [],
  };
  test("the text names a policy's changed fields and says when they take effect", () => {
    expect(policyChanges(policy, { ...policy, auto_enroll: true, enrollment_pi: "20261121T000000Z" })).toBe(
      "Machines boot by this policy from their next netboot on. Changes: whether new machines enrol by " +
        "themselves, the platform image of new machines.",
    );
    expect(policyChanges(policy, { ...policy })).toBe("Nothing changes.");
  });

  const entry = (hostname: string, mac = "02:aa:15:2b:6e:77"): Roster[number] => ({
    hostname,
    macs: [mac],
    nic_tags: [],
    aggregate: undefined,
  });
  test("a roster's new, missing and changed machines are named; an omitted field with a default value is no change", () => {
    const old = [entry("a"), entry("b"), entry("c")];
    const next = [entry("a", "02:aa:15:2b:6e:78"), { macs: ["02:aa:15:2b:6e:77"], hostname: "b" }, entry("d")];
    expect(rosterChanges(old, next)).toBe(
      "The roster is replaced as a whole. Machines boot with its networking. " +
        "Adds 1 machine: d. Removes 1 machine: c. Changes 1 machine: a.",
    );
    expect(rosterChanges(old, old)).toBe("Nothing changes.");
    expect(rosterChanges(Array.from({ length: 7 }, (_, n) => entry(`r${n}`)), [])).toContain(
      "Removes 7 machines: r0, r1, r2, r3, r4 and more.",
    );
  });
});
