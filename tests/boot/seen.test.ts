// Tests machines that a booter reports as seen, and machines that an operator authorizes (docs/booting.md, "Boot
// records").
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { guidsOfUuid } from "../../src/lib/net/boot-client.ts";
import { expectInvariants } from "../setup/invariants.ts";
import {
  announce,
  newMac,
  newMachine,
  POLICY,
  putPolicy,
  seen,
  settle,
  setUp,
  showRecord,
  showRequest,
} from "../setup/machine.ts";

let t: TestControlPlane;
let root_key_id: string;
beforeAll(async () => {
  t = await openTestControlPlane();
  root_key_id = (await t.call("GET", "/v1/auth/whoami")).body.key_id;
});
afterAll(() => t.close());
beforeEach(async () => void okOf(await putPolicy(t)));
afterEach(() => expectInvariants(t.db));

const authorize = (mac: string) => t.call("POST", `/v2/cn-boot/${mac}/authorize`);
const post = (mac: string, verb: string) => t.call("POST", `/v2/cn-boot/${mac}/${verb}`);

/** Creates a discovered record: the policy does not admit the machine. */
async function discovered(): Promise<string> {
  const mac = newMac();
  okOf(await putPolicy(t, { auto_enroll: false }));
  expect(okOf(await seen(t, mac)).state).toBe("discovered");
  okOf(await putPolicy(t));
  return mac;
}

test("a machine that the policy admits starts to enrol, with an address and networking", async () => {
  const mac = newMac();
  const { status, body } = await seen(t, mac);
  expect(status).toBe(200);
  expect(body).toEqual({
    mac,
    state: "enrolling",
    address: expect.stringMatching(/^10\.20\.\d+\.\d+$/),
    networking: {
      address: body.address,
      prefix_len: 16,
      gateway: "10.20.0.1",
      resolvers: ["10.20.0.2"],
      hostname: null,
      nic_tags: [],
    },
    provenance: { source: "booter", first_seen_at: body.created_at, first_seen_by: root_key_id },
    server_uuid: null,
    assigned_pi: null,
    rescue: false,
    hostname: null,
    kernel_args: [],
    console: null,
    boot_arguments: { kernel_args: [], console: null },
    created_at: expect.any(String),
    updated_at: body.created_at,
  });
  const { boot_arguments: _arguments, ...record } = body;
  expect(await showRecord(t, mac)).toEqual(record);
});

test.each([
  ["auto_enroll is off", { auto_enroll: false }],
  ["no allowlist entry matches", { allowlist: [{ kind: "mac_prefix", value: "0a:0b" }] }],
  ["there is no admin network", { admin_network: null }],
])("a machine becomes only discovered and gets no address if %s", async (_why, changes) => {
  okOf(await putPolicy(t, changes));
  const { body } = await seen(t, newMac());
  expect(body).toMatchObject({ state: "discovered", address: null, networking: null });
});

test("a repeated report of a machine returns its record unchanged, even after a change of the policy", async () => {
  const mac = newMac();
  const first = okOf(await seen(t, mac));
  okOf(await putPolicy(t, { auto_enroll: false, admin_network: null }));
  expect(okOf(await seen(t, mac))).toEqual(first);

  const quiet = newMac();
  const noted = okOf(await seen(t, quiet));
  okOf(await putPolicy(t));
  expect(okOf(await seen(t, quiet))).toEqual(noted);
  okOf(await post(quiet, "decommission"));
  expect(okOf(await seen(t, quiet))).toMatchObject({ state: "decommissioned" });
});

test("all spellings of a MAC address select the same record", async () => {
  const mac = newMac();
  const digits = mac.replaceAll(":", "");
  const spellings = [
    mac,
    mac.toUpperCase(),
    mac.replaceAll(":", "-"),
    digits,
    digits.replace(/(....)(?=.)/g, "$1."),
    mac
      .replaceAll(":", " "),
  ];
  const answers = await Promise.all(spellings.map((text) => seen(t, text)));
  expect(new Set(answers.map(({ body }) => body.mac))).toEqual(new Set([mac]));
  const shown = await t.call("GET", `/v2/cn-boot/${encodeURIComponent(mac.replaceAll(":", " "))}`);
  expect(shown.body.mac).toBe(mac);
});

test.each(["", "02:be:57", "02:be:57:00:00:zz", "02:be:57:00:00:01:02", "01:00:5e:00:00:01", "ff:ff:ff:ff:ff:ff"])(
  "%j, which is not a machine's MAC address, gets 400 with the field's name",
  async (mac) => {
    const answer = await seen(t, mac);
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining("mac")]);
    if (mac !== "") expect((await authorize(mac)).status).toBe(400);
  },
);

test("unknown fields from a booter are ignored", async () => {
  const body = { mac: newMac(), client: { guid: "x", option_93: [7], later: { a: null } }, future: true };
  expect((await t.call("POST", "/v2/booter/seen", { body })).status).toBe(200);
  expect((await t.call("POST", "/v2/booter/seen", { body: { mac: newMac() } })).status).toBe(200);
});

describe("allowlist", () => {
  test.each([
    ["an octet", (mac: string) => mac.slice(0, 2)],
    ["three octets", (mac: string) => mac.slice(0, 8)],
    ["the whole MAC", (mac: string) => mac],
  ])("a mac_prefix of %s admits the machine", async (_what, prefixOf) => {
    const mac = newMac();
    okOf(await putPolicy(t, { allowlist: [{ kind: "mac_prefix", value: prefixOf(mac) }] }));
    expect(okOf(await seen(t, mac)).state).toBe("enrolling");
  });

  test("a machine is admitted only if it matches at least one of several entries", async () => {
    const mac = newMac();
    const entries = [{ kind: "service_tag", value: "ELSE" }, { kind: "mac_prefix", value: mac }];
    okOf(await putPolicy(t, { allowlist: entries }));
    expect(okOf(await seen(t, newMac())).state).toBe("discovered");
    expect(okOf(await seen(t, mac)).state).toBe("enrolling");
  });

  test("a service_tag admits the discovered ports of a machine that announces the tag, and each other port when it is seen", async () => {
    const allowlist = [{ kind: "service_tag", value: "TAG123" }];
    okOf(await putPolicy(t, { allowlist }));
    const machine = newMachine();
    const [first = "", second = ""] = machine.macs;
    expect(okOf(await seen(t, first)).state).toBe("discovered");
    okOf(await announce(t, machine));
    await settle(t);
    expect(await showRecord(t, first)).toMatchObject({ state: "enrolling", address: expect.any(String) });
    expect(okOf(await seen(t, second)).state).toBe("enrolling");
    okOf(await putPolicy(t, { allowlist: [{ kind: "service_tag", value: "tag123" }] }));
    const other = newMachine();
    okOf(await announce(t, other));
    expect(okOf(await seen(t, other.macs[0] ?? "")).state).toBe("discovered");
  });

  test("an announce admits only discovered ports of the machine, only by a service_tag, and only if auto_enroll is on", async () => {
    const machine = newMachine(3);
    const [first = "", second = "", third = ""] = machine.macs;
    okOf(await putPolicy(t, { auto_enroll: false }));
    const stranger = newMac();
    for (const mac of [first, second, third, stranger]) okOf(await seen(t, mac));
    okOf(await post(third, "decommission"));
    const states = async () => {
      okOf(await announce(t, machine));
      await settle(t);
      const records = await Promise.all([first, second, third, stranger].map((mac) => showRecord(t, mac)));
      return records.map(({ state }) => state);
    };
    const stay = ["discovered", "discovered", "decommissioned", "discovered"];
    okOf(await putPolicy(t));
    expect(await states()).toEqual(stay);
    okOf(await putPolicy(t, { allowlist: [{ kind: "mac_prefix", value: first }] }));
    expect(await states()).toEqual(stay);
    const allowlist = [{ kind: "service_tag", value: "TAG123" }];
    okOf(await putPolicy(t, { allowlist, auto_enroll: false }));
    expect(await states()).toEqual(stay);
    okOf(await putPolicy(t, { allowlist: [{ kind: "service_tag", value: "TAG12" }] }));
    expect(await states()).toEqual(stay);
    okOf(await putPolicy(t, { allowlist }));
    expect(await states()).toEqual(["enrolling", "enrolling", "decommissioned", "discovered"]);
  });

  test("an announce succeeds even if there are not enough addresses for all ports", async () => {
    const machine = newMachine(2);
    okOf(await putPolicy(t, { auto_enroll: false }));
    for (const mac of machine.macs) okOf(await seen(t, mac));
    const network = { ...POLICY.admin_network, provision_start_ipv4: "10.20.77.1", provision_end_ipv4: "10.20.77.1" };
    okOf(await putPolicy(t, { admin_network: network, allowlist: [{ kind: "service_tag", value: "TAG123" }] }));
    okOf(await announce(t, machine));
    await settle(t);
    const records = await Promise.all(machine.macs.map((mac) => showRecord(t, mac)));
    expect(records.map(({ state, address }) => [state, address]).sort()).toEqual([
      ["discovered", null],
      ["enrolling", "10.20.77.1"],
    ]);
  });

  const GUIDS = [
    ["in byte order", "44454c4c330010348036c4c04f32334a"],
    ["in printed order", "4c4c4544-0033-3410-8036-C4C04F32334A"],
  ] as const;
  test.each(GUIDS)(
    "a service_tag admits a machine at its first packet if its GUID contains the tag %s",
    async (_how, guid) => {
      okOf(await putPolicy(t, { allowlist: [{ kind: "service_tag", value: "D34623J" }] }));
      const request = { mac: newMac(), client: { guid } };
      const { body } = await t.call("POST", "/v2/booter/seen", { body: request });
      expect(body).toMatchObject({ state: "enrolling", address: expect.any(String) });
    },
  );

  test.each([
    ["another tag", "44454c4c340010348036c4c04f32334a"],
    ["another vendor", "55454c4c330010348036c4c04f32334a"],
    ["no marker bytes", "44454c4c330110348036c4c04f32334a"],
    ["too few digits", "44454c4c33001034"],
    ["a number as value", 7],
    ["null as value", null],
  ])("a GUID with %s admits no machine by a service_tag", async (_what, guid) => {
    okOf(await putPolicy(t, { allowlist: [{ kind: "service_tag", value: "D34623J" }] }));
    const { body } = await t.call("POST", "/v2/booter/seen", { body: { mac: newMac(), client: { guid } } });
    expect(body).toMatchObject({ state: "discovered" });
  });
});

describe("authorize", () => {
  test("makes a discovered machine enrol, even if the policy does not admit it", async () => {
    const mac = await discovered();
    okOf(await putPolicy(t, { auto_enroll: false, allowlist: [{ kind: "mac_prefix", value: "0a" }] }));
    const before = await showRecord(t, mac);
    const after = okOf(await authorize(mac));
    expect(after).toMatchObject({ state: "enrolling", provenance: before.provenance, created_at: before.created_at });
    expect(after.networking.address).toBe(after.address);
  });

  test("creates a record for a machine that was never seen, with the operator as its source", async () => {
    const mac = newMac();
    expect(okOf(await authorize(mac))).toMatchObject({
      mac,
      state: "enrolling",
      provenance: { source: "operator", first_seen_by: root_key_id },
    });
  });

  test("leaves an enrolling machine unchanged", async () => {
    const mac = newMac();
    const first = okOf(await authorize(mac));
    expect(okOf(await authorize(mac))).toEqual(first);
  });

  test("of an enrolled or a decommissioned record gets 409", async () => {
    const run = await setUp(t);
    expect(await authorize(run.macs[0] ?? "")).toMatchObject({
      status: 409,
      body: { message: "boot record is enrolled already", error_code: "Conflict" },
    });
    const mac = newMac();
    okOf(await seen(t, mac));
    okOf(await post(mac, "decommission"));
    expect(await authorize(mac)).toMatchObject({
      status: 409,
      body: { message: "boot record is decommissioned; reactivate it first" },
    });
  });

  test("without an admin network gets 409, whether or not the machine was seen, and creates no record", async () => {
    const mac = await discovered();
    okOf(await putPolicy(t, { admin_network: null }));
    const text = "no admin_network is configured in the boot policy; there is no address to reserve";
    expect(await authorize(mac)).toMatchObject({ status: 409, body: { message: text } });
    const unseen = newMac();
    expect(await authorize(unseen)).toMatchObject({ status: 409, body: { message: text } });
    expect((await t.call("GET", `/v2/cn-boot/${unseen}`)).status).toBe(404);
  });

  test("without a free address gets 409 PoolExhausted, and a machine that is seen after this becomes only discovered", async () => {
    const mac = await discovered();
    const tiny = { provision_start_ipv4: "10.20.0.1", provision_end_ipv4: "10.20.0.2", gateway: "10.20.0.1" };
    okOf(await putPolicy(t, { admin_network: { ...POLICY.admin_network, ...tiny } }));
    expect(okOf(await seen(t, newMac())).address).toBe("10.20.0.2");
    expect(await authorize(mac)).toMatchObject({
      status: 409,
      body: { message: "every address of the admin network is reserved", error_code: "PoolExhausted" },
    });
    expect(okOf(await seen(t, newMac()))).toMatchObject({ state: "discovered", address: null });
    expect((await authorize(newMac())).status).toBe(409);
  });

  test("of a reactivated record keeps the record's address, even without an admin network", async () => {
    const mac = newMac();
    const { address, networking } = okOf(await seen(t, mac));
    okOf(await post(mac, "decommission"));
    okOf(await post(mac, "reactivate"));
    okOf(await putPolicy(t, { admin_network: null }));
    expect(okOf(await authorize(mac))).toMatchObject({ state: "enrolling", address, networking });
  });

  test("repeated with the same Idempotency-Key gets the same answer, and the record changes once", async () => {
    const mac = newMac();
    const headers = { "idempotency-key": randomUUID() };
    const twice = [1, 2].map(() => t.call("POST", `/v2/cn-boot/${mac}/authorize`, { headers }));
    const [first, again] = await Promise.all(twice);
    expect(again?.body).toEqual(first?.body);
    const { rows } = await t.db.query("select event from transition where actor_id = $1", [mac]);
    expect(rows).toEqual([{ event: "authorize" }]);
  });
});

test("seen and authorize are audited only if they change the record", async () => {
  const mac = newMac();
  okOf(await seen(t, mac));
  okOf(await seen(t, mac));
  const other = await discovered();
  okOf(await authorize(other));
  const { rows } = await t.db.query(
    "select audit->>'action' as action from transition where actor_id = any($1) order by id",
    [[mac, other]],
  );
  expect(rows.map(({ action }) => action)).toEqual(["boot_record_seen", "boot_record_seen", "boot_record_authorize"]);
});

describe("the last netboot request of a machine", () => {
  const GUID = "00112233445566778899aabbccddeeff";
  const REQUEST = { arch: 11, vendor_class: "PXEClient:Arch:00011", user_class: null, guid: GUID, relay: "10.20.0.3" };
  const report = (mac: string, client: Record<string, unknown>) =>
    t.call("POST", "/v2/booter/seen", { body: { mac, client } });

  test("is in the record and in the list; a later request replaces it", async () => {
    const mac = newMac();
    okOf(await report(mac, REQUEST));
    const shown = {
      ...REQUEST,
      architecture: "ARM 64-bit UEFI",
      has_boot_file: true,
      seen_at: expect.stringMatching(/Z$/),
      seen_by: root_key_id,
    };
    expect(await showRequest(t, mac)).toEqual(shown);
    const { items } = okOf(await t.call("GET", "/v2/cn-boot?limit=1000"));
    expect(items.find((each: { mac: string }) => each.mac === mac).client).toEqual(shown);
    okOf(await report(mac, { ...REQUEST, arch: 7, user_class: "iPXE" }));
    expect(await showRequest(t, mac)).toMatchObject({ architecture: "x86-64 UEFI", user_class: "iPXE" });
    okOf(await report(mac, {}));
    expect((await showRequest(t, mac)).arch).toBe(7);
  });

  test("is stored without its malformed values", async () => {
    const mac = newMac();
    okOf(
      await report(mac, {
        arch: 65_536,
        vendor_class: `a\u0007${"b".repeat(99)}`,
        user_class: 7,
        guid: "nonsense",
        relay: "::1",
      }),
    );
    expect(await showRequest(t, mac)).toMatchObject({
      arch: null,
      architecture: "unknown",
      vendor_class: `a?${"b".repeat(62)}`,
      user_class: null,
      guid: null,
      relay: null,
    });
  });

  test("from an architecture without a boot file makes the record only discovered, and the doctor names the architecture", async () => {
    const mac = newMac();
    expect(okOf(await report(mac, { ...REQUEST, has_boot_file: false }))).toMatchObject({
      state: "discovered",
      address: null,
    });
    const { findings } = okOf(await t.call("GET", `/v2/cn-boot/${mac}/doctor`));
    expect(findings[0]).toMatchObject({
      level: "stops",
      text: expect.stringContaining(`no boot file for the architecture of ${mac}: ARM 64-bit UEFI`),
    });
    okOf(await report(mac, { ...REQUEST, arch: 7, has_boot_file: true }));
    const later = okOf(await t.call("GET", `/v2/cn-boot/${mac}/doctor`));
    expect(later.findings.map(({ text }: { text: string }) => text).join()).not.toContain("boot file");
  });

  test.each([["as SMBIOS stores it", true], ["as it is printed", false]])(
    "with the UUID of a node (%s) from a port that the node does not have is a problem in the node's doctor",
    async (_how, stored) => {
      const machine = newMachine();
      okOf(await announce(t, machine));
      const swapped = guidsOfUuid(machine.server_uuid)[stored ? 1 : 0];
      const twin = newMac();
      okOf(await report(machine.macs[0]!, { ...REQUEST, guid: swapped }));
      const findings = async () => {
        const judged = okOf(await t.call("GET", `/v1/system/cns/${machine.server_uuid}/doctor`));
        return judged.findings.map(({ text }: { text: string }) => text).filter((text: string) => /UUID/.test(text));
      };
      expect(await findings()).toEqual([]);
      okOf(await report(twin, { ...REQUEST, guid: swapped }));
      expect(await findings()).toEqual([
        `another machine sent the UUID of this node in its netboot request (${twin})`,
      ]);
    },
  );
});
