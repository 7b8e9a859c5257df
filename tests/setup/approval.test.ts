// Tests the layout proposal and its approval. docs/nodes.md, "The netboot path".
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { changedRows, dumpTables } from "../support/dump.ts";
import { expectInvariants } from "./invariants.ts";
import {
  announce,
  approveSetup,
  awaitingSetup,
  HISTORY,
  keysOf,
  newMachine,
  onNode,
  putPolicy,
  rowOf,
  settingUp,
  settle,
  setUp,
  showNode,
  sysinfoOf,
} from "./machine.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
  okOf(await putPolicy(t));
});
afterAll(() => t.close());
afterEach(() => expectInvariants(t.db));

async function withDisks(...sizes_gb: readonly number[]) {
  const machine = newMachine();
  return await awaitingSetup(t, { ...machine, sysinfo: sysinfoOf(machine.macs, sizes_gb) });
}

describe("the proposal", () => {
  const propose = (machine: { server_uuid: string }) => onNode(t, "GET", machine, "/setup-layout-proposal");
  const LAYOUTS = ["single", "mirror", "raidz1", "raidz2", "raidz3"];

  test("shows what the layout tool would do, and every disk that loses its data", async () => {
    const { status, body } = await propose(await withDisks(600, 600, 600, 600, 100));
    expect(status).toBe(200);
    expect(body).toEqual({
      disks: [600, 600, 600, 600, 100].map((size_gb, index) => ({ name: `c0t${index}d0`, size_gb })),
      proposal: {
        layout: "raidz1",
        width: 4,
        spares: 0,
        vdevs: [{ type: "raidz", disks: ["c0t0d0", "c0t1d0", "c0t2d0", "c0t3d0"] }],
        spare_disks: [],
        cache_disks: ["c0t4d0"],
        capacity_gb: 1_800,
        destroys: ["c0t0d0", "c0t1d0", "c0t2d0", "c0t3d0", "c0t4d0"],
      },
      supported_layouts: LAYOUTS,
    });
  });

  test("can be approved unchanged", async () => {
    const machine = await withDisks(600, 600, 600, 600, 600, 600);
    const { layout, width, spares } = (await propose(machine)).body.proposal;
    const approval = { disk_layout: layout, disk_width: width, disk_spares: spares };
    expect((await approveSetup(t, machine, approval)).status).toBe(200);
  });

  test.each<[string, unknown]>([
    ["no disks", { Disks: {} }],
    ["no inventory", {}],
    ["disks without a size", { Disks: { c0t0d0: {}, c0t1d0: { "Size in GB": 0 } } }],
    ["a list instead of disks", { Disks: [1, null, "x"] }],
  ])("gets 200 with an error for a machine that announced %s", async (_what, sysinfo) => {
    const machine = newMachine();
    okOf(await announce(t, machine, { sysinfo }));
    const { status, body } = await propose(machine);
    expect(status).toBe(200);
    expect(body).toMatchObject({ error: "no primary storage disks available", supported_layouts: LAYOUTS });
    expect(body).not.toHaveProperty("proposal");
  });

  test("gets 200 for a node that is setting_up, approved or pending, too, and 404 for an unknown node", async () => {
    for (const machine of [await settingUp(t), await setUp(t), await t.register()]) {
      expect((await propose(machine)).status).toBe(200);
    }
    expect(await propose({ server_uuid: randomUUID() })).toMatchObject({ status: 404 });
  });
});

describe("an accepted approval", () => {
  test("moves the node to setting_up, gives the run its epoch and starts an operation on the node", async () => {
    const machine = await awaitingSetup(t);
    const before = await showNode(t, machine);
    const { status, body } = await approveSetup(t, machine, { disk_layout: "raidz1" });
    expect(status).toBe(200);
    const { operation_id, ...view } = body;
    expect(view).toEqual({
      ...before,
      state: "setting_up",
      approved_at: expect.any(String),
      disk_layout: {
        disk_layout: "raidz1",
        disk_width: null,
        disk_spares: null,
        disk_exclude: [],
        disk_cache: true,
        disk_compress: null,
        hostname: null,
      },
    });
    expect(await showNode(t, machine)).toEqual(view);
    const operation = (await t.call("GET", `/v1/operations/${operation_id}`)).body;
    expect(operation).toMatchObject({
      kind: "cn-setup",
      references: [{ scope: "cn", id: machine.server_uuid }],
      params: { server_uuid: machine.server_uuid, epoch: (await rowOf(t, machine))?.setup_epoch },
    });
    const query = `resource_scope=cn&resource_id=${machine.server_uuid}`;
    expect((await t.call("GET", `/v1/operations?${query}`)).body.map(({ id }: { id: string }) => id)).toEqual([
      operation_id,
    ]);
  });

  test("sets the deadline to 45 minutes and one millisecond after the approval", async () => {
    const machine = await awaitingSetup(t);
    okOf(await approveSetup(t, machine));
    const { rows } = await t.db.query(
      "select extract(epoch from wake_at - approved_at)::float8 as secs from cn where server_uuid = $1",
      [machine.server_uuid],
    );
    expect(rows).toEqual([{ secs: 2_700.001 }]);
  });

  test("creates no key; the key is created when the booter fetches the bundle", async () => {
    const machine = await awaitingSetup(t);
    okOf(await approveSetup(t, machine));
    expect(await keysOf(t, machine)).toEqual([]);
    expect((await showNode(t, machine)).bound_api_key_id).toBeNull();
  });

  test("stores every choice of the operator; zero is not treated as a missing value", async () => {
    const machine = await withDisks(600, 600, 600, 600, 600);
    const body = {
      disk_layout: "mirror",
      disk_width: 2,
      disk_spares: 0,
      disk_exclude: ["c0t4d0"],
      disk_cache: false,
      disk_compress: "gzip-9",
      hostname: "Rack-1",
    };
    const view = okOf(await approveSetup(t, machine, body));
    expect(view).toMatchObject({ hostname: "Rack-1", disk_layout: body });
  });

  test.each(["off", "on", "lz4", "zstd", "gzip", ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((level) => `gzip-${level}`)])(
    "accepts the compression %s",
    async (disk_compress) => {
      const approval = { disk_layout: "mirror", disk_compress };
      expect((await approveSetup(t, await awaitingSetup(t), approval)).status).toBe(200);
    },
  );

  test.each(["a", "A-1", "0", "x".repeat(63)])("accepts the hostname %s", async (hostname) => {
    const approval = { disk_layout: "mirror", hostname };
    expect(okOf(await approveSetup(t, await awaitingSetup(t), approval)).hostname).toBe(hostname);
  });

  test("treats null in an optional field like a missing field", async () => {
    const nulls = { disk_width: null, disk_spares: null, disk_exclude: null, disk_cache: null, disk_compress: null };
    const approval = { disk_layout: "mirror", hostname: null, ...nulls };
    const view = okOf(await approveSetup(t, await awaitingSetup(t), approval));
    expect(view).toMatchObject({ hostname: "bare-1", disk_layout: { disk_cache: true, disk_exclude: [] } });
  });

  test("repeated with its Idempotency-Key gets the same answer and starts no second run; another body gets 422", async () => {
    const machine = await awaitingSetup(t);
    const path = `/v1/cns/${machine.server_uuid}/approve-setup`;
    const headers = { "idempotency-key": "approve once" };
    const body = { disk_layout: "mirror" };
    const [first, again] = await Promise.all([1, 2].map(() => t.call("POST", path, { body, headers })));
    expect(first?.status).toBe(200);
    expect(again?.body).toEqual(first?.body);
    expect((await t.call("POST", path, { body: { disk_layout: "raidz1" }, headers })).status).toBe(422);
    const { rows } = await t.db.query("select from saga where params->>'server_uuid' = $1", [machine.server_uuid]);
    expect(rows.length).toBe(1);
  });
});

describe("an approval is rejected", () => {
  const mirror = (changes: object) => ({ disk_layout: "mirror", ...changes });
  test.each<[string, unknown, string]>([
    ["without disk_layout", {}, "disk_layout"],
    ["with null for disk_layout", { disk_layout: null }, "disk_layout"],
    ["with an unknown layout", { disk_layout: "raidz4" }, "disk_layout"],
    ["with an unknown field", mirror({ disk_witdh: 3 }), "disk_witdh"],
    ["with a wrong field name", mirror({ layout: "mirror" }), "layout"],
    ["with a width that is not a number", mirror({ disk_width: "2" }), "disk_width"],
    ["with a fractional width", mirror({ disk_width: 2.5 }), "disk_width"],
    ["with negative spares", mirror({ disk_spares: -1 }), "disk_spares"],
    ["with a disk that is not text", mirror({ disk_exclude: [1] }), "disk_exclude"],
    ["with a cache that is not boolean", mirror({ disk_cache: "no" }), "disk_cache"],
    ["with an unknown compression", mirror({ disk_compress: "gzip-10" }), "disk_compress"],
    ["with the compression gzip-0", mirror({ disk_compress: "gzip-0" }), "disk_compress"],
    ["with an empty hostname", mirror({ hostname: "" }), "hostname"],
    ["with a hostname that ends in a hyphen", mirror({ hostname: "a-" }), "hostname"],
    ["with a hostname that begins with a hyphen", mirror({ hostname: "-a" }), "hostname"],
    ["with a dot in the hostname", mirror({ hostname: "a.b" }), "hostname"],
    ["with 64 characters of hostname", mirror({ hostname: "x".repeat(64) }), "hostname"],
    ["with a non-ASCII letter in the hostname", mirror({ hostname: "räck" }), "hostname"],
    ["with a line break in the hostname", mirror({ hostname: "a\n" }), "hostname"],
    // Messages of the layout tool, for four disks of the same size.
    ["with a width below two", mirror({ disk_width: 1 }), "invalid width: 1"],
    ["with a width below two for a single disk", { disk_layout: "single", disk_width: 1 }, "invalid width: 1"],
    ["with a mirror that is too wide", mirror({ disk_width: 5 }), "5 is an invalid width for mirroring and 4 disks"],
    [
      "with a mirror wider than the disks left after the spares",
      mirror({ disk_width: 4, disk_spares: 1 }),
      "4 is an invalid width for mirroring and 3 disks",
    ],
    [
      "with a raidz1 that is too narrow",
      { disk_layout: "raidz1", disk_width: 2 },
      "2 is an invalid width for raidz and 4 disks (min: 3, default max: 6)",
    ],
    ["with raidz2 of four disks", { disk_layout: "raidz2" }, "no acceptable raidz2 layout is possible with 4 disks"],
    ["with raidz3 of four disks", { disk_layout: "raidz3" }, "no acceptable raidz3 layout is possible with 4 disks"],
    [
      "with spares for a single disk",
      { disk_layout: "single", disk_spares: 1 },
      "spares are not allowed for a single disk pool",
    ],
    ["with too many spares", mirror({ disk_spares: 3 }), "too many spares (3) for this disk configuration"],
    [
      "with every disk excluded",
      mirror({ disk_exclude: ["c0t0d0", "c0t1d0", "c0t2d0", "c0t3d0"] }),
      "no primary storage disks available",
    ],
    [
      "with all disks but one excluded",
      mirror({ disk_exclude: ["c0t0d0", "c0t1d0", "C0T2D0"] }),
      "at least 2 disks are required for mirroring",
    ],
  ])("and changes nothing: %s", async (_how, body, text) => {
    const machine = await awaitingSetup(t);
    await settle(t);
    const before = await dumpTables(t.db);
    const answer = await approveSetup(t, machine, body);
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(text)]);
    expect(changedRows(before, await dumpTables(t.db), HISTORY)).toEqual([]);
  });

  test("with 409 and the name of the state, for a node in any state except awaiting_setup, even if the layout is also invalid", async () => {
    const run = await settingUp(t);
    const approved = await setUp(t);
    const pending = await t.register();
    const disabled = await setUp(t);
    okOf(await onNode(t, "POST", disabled, "/disable"));
    const nodes = { setting_up: run, approved, pending, disabled };
    for (const [state, { server_uuid }] of Object.entries(nodes)) {
      const answer = await onNode(t, "POST", { server_uuid }, "/approve-setup", {
        disk_layout: "mirror",
        disk_width: 1,
      });
      expect([answer.status, answer.body.message]).toEqual([
        409,
        `cn is ${state}; only a node that is awaiting setup can be approved for setup`,
      ]);
    }
  });

  test("with 404 for an unknown node", async () => {
    expect((await onNode(t, "POST", { server_uuid: randomUUID() }, "/approve-setup", { disk_layout: "single" })).status)
      .toBe(404);
  });

  test("S-03: with 403 for a key of any limited scope, and the node stays in awaiting_setup", async () => {
    const machine = await awaitingSetup(t);
    for (const scope of ["read_only", "audit_only", "agent", "booter", "ur_enroll"] as const) {
      const { secret } = await t.mintKey(scope);
      const path = `/v1/cns/${machine.server_uuid}/approve-setup`;
      const answer = await t.call("POST", path, { key: secret, body: { disk_layout: "mirror" } });
      expect([scope, answer.status]).toEqual([scope, 403]);
    }
    expect((await showNode(t, machine)).state).toBe("awaiting_setup");
  });
});

test("one of many concurrent approvals succeeds; the other approvals get 409", async () => {
  const machine = await awaitingSetup(t);
  const answers = await Promise.all(Array.from({ length: 8 }, () => approveSetup(t, machine)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
  const { rows } = await t.db.query("select from saga where params->>'server_uuid' = $1", [machine.server_uuid]);
  expect(rows.length).toBe(1);
});
