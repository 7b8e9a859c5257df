// Tests the calls with which operators show and change boot records (docs/booting.md, "Boot records").
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { expectInvariants } from "../setup/invariants.ts";
import {
  announce,
  approveSetup,
  ENROLLMENT_PI,
  newMac,
  newMachine,
  onNode,
  POLICY,
  putPolicy,
  seen,
  settingUp,
  setUp,
  showRecord,
} from "../setup/machine.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
  okOf(await putPolicy(t));
  okOf(await t.call("PUT", "/v2/platform-images", { body: { stamps: [ENROLLMENT_PI, "pi-2", "pi-3"] } }));
});
afterAll(() => t.close());
afterEach(() => expectInvariants(t.db));

const post = (mac: string, verb: string, body?: unknown) => t.call("POST", `/v2/cn-boot/${mac}/${verb}`, { body });

const STATES = ["discovered", "enrolling", "enrolled", "decommissioned"] as const;

async function recordIn(state: (typeof STATES)[number]): Promise<string> {
  if (state === "enrolled") return (await setUp(t)).macs[0] ?? "";
  const mac = newMac();
  if (state === "discovered") okOf(await putPolicy(t, { auto_enroll: false }));
  okOf(await seen(t, mac));
  okOf(await putPolicy(t));
  if (state === "decommissioned") okOf(await post(mac, "decommission"));
  expect((await showRecord(t, mac)).state).toBe(state);
  return mac;
}

describe("reactivate", () => {
  test("makes a decommissioned record discovered, clears its binding, and keeps address, networking and provenance", async () => {
    const run = await setUp(t);
    const [mac = ""] = run.macs;
    const enrolled = await showRecord(t, mac);
    okOf(await onNode(t, "POST", run, "/disable"));
    okOf(await onNode(t, "DELETE", run));
    expect(await showRecord(t, mac)).toMatchObject({ state: "decommissioned", server_uuid: run.server_uuid });
    const after = okOf(await post(mac, "reactivate"));
    const { address, networking, provenance, created_at } = enrolled;
    expect(after).toMatchObject({
      state: "discovered",
      server_uuid: null,
      address,
      networking,
      provenance,
      created_at,
    });
  });

  test("leaves a discovered record unchanged", async () => {
    const mac = await recordIn("discovered");
    const before = await showRecord(t, mac);
    expect(okOf(await post(mac, "reactivate"))).toEqual(before);
  });

  test.each(["enrolling", "enrolled"] as const)(
    "of a record that is %s gets 409 and changes nothing",
    async (state) => {
      const mac = await recordIn(state);
      const before = await showRecord(t, mac);
      expect(await post(mac, "reactivate")).toMatchObject({
        status: 409,
        body: {
          message: `boot record is ${state}; only a decommissioned record can be reactivated`,
          error_code: "Conflict",
        },
      });
      expect(await showRecord(t, mac)).toEqual(before);
    },
  );
});

describe("rescue", () => {
  test.each(STATES)(
    "can be set and cleared on a record that is %s; a record without an address gets an address, and nothing else changes",
    async (state) => {
      const mac = await recordIn(state);
      const { updated_at: _before, ...before } = await showRecord(t, mac);
      if (before.address === null) {
        const { address, networking } = okOf(await post(mac, "rescue"));
        Object.assign(before, { address, networking });
        okOf(await post(mac, "rescue/clear"));
        await t.db.query("delete from transition where actor_id = $1 and event = 'rescue'", [mac]);
      }
      for (const [verb, rescue] of [["rescue", true], ["rescue", true], ["rescue/clear", false]] as const) {
        const { updated_at: _after, ...after } = okOf(await post(mac, verb));
        expect(after).toEqual({ ...before, rescue });
        expect(okOf(await seen(t, mac)).rescue).toBe(rescue);
      }
      const { rows } = await t.db.query(
        "select event from transition where actor_id = $1 and event = 'rescue'",
        [
          mac,
        ],
      );
      expect(rows.length).toBe(2);
    },
  );

  test("gives a discovered record the lowest free address, and a later authorization does not change the address", async () => {
    const mac = await recordIn("discovered");
    expect((await showRecord(t, mac)).address).toBeNull();
    const rescued = okOf(await post(mac, "rescue"));
    expect(rescued).toMatchObject({ state: "discovered", rescue: true, address: expect.stringMatching(/^10\.20\./) });
    expect(rescued.networking).toMatchObject({ address: rescued.address, prefix_len: 16, gateway: "10.20.0.1" });
    okOf(await post(mac, "rescue/clear"));
    expect(okOf(await post(mac, "authorize"))).toMatchObject({ state: "enrolling", address: rescued.address });
  });

  test("of a record without an address gets 409 if no address is free or there is no network, and changes nothing", async () => {
    const mac = await recordIn("discovered");
    const tiny = { provision_start_ipv4: "10.20.0.1", provision_end_ipv4: "10.20.0.2" };
    okOf(await putPolicy(t, { admin_network: { ...POLICY.admin_network, ...tiny } }));
    expect(okOf(await seen(t, newMac())).address).toBe("10.20.0.2");
    expect(await post(mac, "rescue")).toMatchObject({
      status: 409,
      body: { message: "every address of the admin network is reserved", error_code: "PoolExhausted" },
    });
    okOf(await putPolicy(t, { admin_network: null }));
    expect(await post(mac, "rescue")).toMatchObject({
      status: 409,
      body: { message: "no admin_network is configured in the boot policy; there is no address to reserve" },
    });
    expect(await showRecord(t, mac)).toMatchObject({ rescue: false, address: null });
    okOf(await putPolicy(t));
    expect(okOf(await post(mac, "rescue")).rescue).toBe(true);
  });

  test("stays set when the record is decommissioned, reactivated and authorized", async () => {
    const mac = await recordIn("enrolling");
    okOf(await post(mac, "rescue"));
    okOf(await post(mac, "decommission"));
    expect((await showRecord(t, mac)).rescue).toBe(true);
    okOf(await post(mac, "reactivate"));
    expect(okOf(await post(mac, "authorize")).rescue).toBe(true);
  });
});

describe("assign", () => {
  test.each(STATES)("of a staged image succeeds for a record that is %s", async (state) => {
    const mac = await recordIn(state);
    const { updated_at: _before, ...before } = await showRecord(t, mac);
    const { updated_at: _after, ...after } = okOf(await post(mac, "assign", { platform_image: "pi-2" }));
    expect(after).toEqual({ ...before, assigned_pi: "pi-2" });
  });

  test("of an image that no booter has staged gets 400 and changes nothing", async () => {
    const mac = await recordIn("enrolling");
    const before = await showRecord(t, mac);
    expect(await post(mac, "assign", { platform_image: "pi-4" })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("pi-4 is not staged"), error_code: "BadRequest" },
    });
    expect(await showRecord(t, mac)).toEqual(before);
  });

  test.each([{}, { platform_image: "a..b" }, { platform_image: "" }, { platform_image: "pi-2", pi: "pi-2" }])(
    "with the body %j gets 400",
    async (body) => expect((await post(await recordIn("discovered"), "assign", body)).status).toBe(400),
  );

  test("sets the image that the node boots after its setup; a record without an assigned image gets the policy's image", async () => {
    const machine = newMachine();
    const [first = "", second = ""] = machine.macs;
    okOf(await seen(t, first));
    okOf(await seen(t, second));
    okOf(await announce(t, machine));
    okOf(await post(second, "assign", { platform_image: "pi-3" }));
    await setUp(t, machine);
    expect((await showRecord(t, first)).assigned_pi).toBe("20260901T000000Z");
    expect((await showRecord(t, second)).assigned_pi).toBe("pi-3");
  });
});

describe("decommission", () => {
  test.each(["discovered", "enrolling"] as const)(
    "an unbound record that is %s keeps its address",
    async (state) => {
      const mac = await recordIn(state);
      const { address, networking, provenance } = await showRecord(t, mac);
      const after = okOf(await post(mac, "decommission"));
      expect(after).toMatchObject({ state: "decommissioned", address, networking, provenance });
      expect(okOf(await post(mac, "decommission"))).toEqual(after);
    },
  );

  const BUSY = "the node of this boot record is in use; disable it first";

  test("is refused for a record of an approved node until the node is disabled", async () => {
    const run = await setUp(t);
    const [mac = ""] = run.macs;
    const before = await showRecord(t, mac);
    expect(await post(mac, "decommission")).toMatchObject({ status: 409, body: { message: BUSY } });
    expect(await showRecord(t, mac)).toEqual(before);
    okOf(await onNode(t, "POST", run, "/disable"));
    expect(okOf(await post(mac, "decommission"))).toMatchObject({
      state: "decommissioned",
      server_uuid: run.server_uuid,
    });
  });

  test("is refused for a record of a node that is being set up again, until the setup ends", async () => {
    const run = await setUp(t);
    const [mac = ""] = run.macs;
    okOf(await onNode(t, "POST", run, "/factory-reset"));
    okOf(await approveSetup(t, run));
    expect(await post(mac, "decommission")).toMatchObject({ status: 409, body: { message: BUSY } });
    const again = okOf(await t.call("POST", `/v2/booter/cns/${run.server_uuid}/bundle`));
    const failed = { body: { epoch: again.epoch, reason: "no disks" } };
    okOf(await t.call("POST", `/v2/booter/cns/${run.server_uuid}/setup-failed`, failed));
    expect(okOf(await post(mac, "decommission")).state).toBe("decommissioned");
  });

  test("of one record during a setup is not undone by the end of the setup, which enrols only the machine's other records", async () => {
    const run = await settingUp(t);
    okOf(await post(run.macs[0] ?? "", "decommission"));
    okOf(
      await t.call("POST", `/v2/booter/cns/${run.server_uuid}/setup-complete`, { body: { epoch: run.epoch } }),
    );
    expect(await showRecord(t, run.macs[0])).toMatchObject({ state: "decommissioned", server_uuid: null });
    expect(await showRecord(t, run.macs[1])).toMatchObject({ state: "enrolled", server_uuid: run.server_uuid });
  });
});

test.each(["reactivate", "rescue", "rescue/clear", "decommission"])(
  "%s of an unknown MAC address gets 404",
  async (verb) => {
    const mac = newMac();
    expect(await post(mac, verb)).toMatchObject({ status: 404, body: { error_code: "NotFound" } });
    expect((await t.call("GET", `/v2/cn-boot/${mac}`)).status).toBe(404);
  },
);

test("assign to an unknown MAC address gets 404", async () => {
  expect((await post(newMac(), "assign", { platform_image: "pi-2" })).status).toBe(404);
});

describe("list", () => {
  const list = async (query = "") => (await t.call("GET", `/v2/cn-boot${query}`)).body;

  test("contains every record as the read of one record shows it, ordered by MAC address", async () => {
    const { items, next_page } = await list();
    expect(next_page).toBeUndefined();
    const macs = items.map((item: { mac: string }) => item.mac);
    expect(macs).toEqual([...macs].sort());
    const { client: _client, boot_arguments: _arguments, ...first } = items[0];
    expect(first).toEqual(await showRecord(t, macs[0]));
    const { rows } = await t.db.query<{ n: number }>("select count(*)::int as n from boot_record");
    expect(items.length).toBe(rows[0]?.n);
  });

  test.each(STATES)("with state=%s contains only records in this state", async (state) => {
    const mac = await recordIn(state);
    const { items } = await list(`?state=${state}`);
    expect(items.map((item: { mac: string }) => item.mac)).toContain(mac);
    expect(new Set(items.map((item: { state: string }) => item.state))).toEqual(new Set([state]));
  });

  test("in pages of three contains the same records as in one page", async () => {
    const whole = (await list("?state=enrolling")).items;
    const pages = [];
    let page_token: string | undefined;
    do {
      const page = await list(`?state=enrolling&limit=3${page_token === undefined ? "" : `&page_token=${page_token}`}`);
      expect(page.items.length).toBeLessThanOrEqual(3);
      pages.push(...page.items);
      page_token = page.next_page;
    } while (page_token !== undefined);
    expect(pages).toEqual(whole);
  });

  test.each(["?state=rescued", "?limit=0", "?limit=1001", "?limit=x", "?page_token=x&limit=2", "?page_token="])(
    "with the query %s gets 400",
    async (query) => expect((await t.call("GET", `/v2/cn-boot${query}`)).status).toBe(400),
  );
});

test("the diagnosis of a record that is bound to a node has the node's findings", async () => {
  const run = await setUp(t);
  const [mac = ""] = run.macs;
  const record = okOf(await t.call("GET", `/v2/cn-boot/${mac}/doctor`));
  const { usable, findings } = okOf(await t.call("GET", `/v1/system/cns/${run.server_uuid}/doctor`));
  expect(record).toEqual({ mac, state: "enrolled", server_uuid: run.server_uuid, usable, findings });
  expect(JSON.stringify(record)).not.toContain("no node is bound");
});
