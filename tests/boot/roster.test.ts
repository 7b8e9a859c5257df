// Tests the roster in which operators declare machines, its effect on boot records, and staged platform images.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { expectInvariants } from "../setup/invariants.ts";
import { newMac, putPolicy, seen, showRecord } from "../setup/machine.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
  okOf(await putPolicy(t));
});
afterAll(() => t.close());
afterEach(() => expectInvariants(t.db));

const put = (body: unknown) => t.call("PUT", "/v2/cn-boot-roster", { body });
const show = async () => (await t.call("GET", "/v2/cn-boot-roster")).body;
const converge = async () => okOf(await t.call("POST", "/v2/cn-boot-roster/converge"));
const sorted = (macs: readonly string[]) => [...macs].sort();

test("the default roster is empty, and converge then changes nothing", async () => {
  expect(await show()).toEqual([]);
  expect(await converge()).toEqual({ converged: [], unchanged: [], unknown: [] });
});

test("a PUT replaces the whole roster and stores MAC addresses in canonical form", async () => {
  const entries = [
    { hostname: "rack1-a", macs: ["02-AA-00-00-00-01", "02AA.0000.0002"], nic_tags: ["admin", "external"] },
    {
      hostname: "rack1-b",
      macs: ["02:aa:00:00:00:03"],
      aggregate: { name: "aggr0", macs: ["02 aa 00 00 00 03", "02:AA:00:00:00:04"] },
    },
  ];
  const canonical = [
    { hostname: "rack1-a", macs: ["02:aa:00:00:00:01", "02:aa:00:00:00:02"], nic_tags: ["admin", "external"] },
    {
      hostname: "rack1-b",
      macs: ["02:aa:00:00:00:03"],
      nic_tags: [],
      aggregate: { name: "aggr0", mode: "active", macs: ["02:aa:00:00:00:03", "02:aa:00:00:00:04"] },
    },
  ];
  expect(okOf(await put(entries))).toEqual(canonical);
  expect(await show()).toEqual(canonical);
  expect(okOf(await put([]))).toEqual([]);
  expect(await show()).toEqual([]);
});

test("a PUT with If-Match replaces only the roster that the caller has read", async () => {
  const etag = async () => (await t.call("GET", "/v2/cn-boot-roster")).headers.get("etag")!;
  const replace = (hostname: string, headers: Record<string, string>) =>
    t.call("PUT", "/v2/cn-boot-roster", { body: [{ hostname, macs: ["02:aa:00:00:00:01"] }], headers });
  okOf(await put([]));
  const empty = await etag();
  const first = await replace("mine", { "if-match": empty });
  expect([first.status, first.headers.get("etag")]).toEqual([200, await etag()]);
  const late = await replace("theirs", { "if-match": empty });
  expect([late.status, late.body.message]).toEqual([412, "the roster was changed since you read it; read it again"]);
  expect(await show()).toMatchObject([{ hostname: "mine" }]);
  expect((await replace("theirs", { "if-match": '"boot-policy-1"' })).status).toBe(412);
  expect((await replace("theirs", { "if-match": await etag() })).status).toBe(200);
  expect((await replace("any", { "if-match": "*" })).status).toBe(200);
});

test("declared=true lists only the boot records of declared machines, in pages too", async () => {
  const [mac, member, other] = [newMac(), newMac(), newMac()];
  for (const each of [mac, member, other]) okOf(await seen(t, each));
  okOf(
    await put([
      { hostname: "a", macs: [mac] },
      { hostname: "b", macs: [member], aggregate: { name: "aggr0", macs: [member] } },
    ]),
  );
  const listed = async (query: string) => {
    const { items, next_page } = okOf(await t.call("GET", `/v2/cn-boot?declared=true${query}`));
    return { macs: items.map((each: { mac: string }) => each.mac), next_page };
  };
  expect((await listed("")).macs).toEqual(sorted([mac, member]));
  const first = await listed("&limit=1");
  const second = await listed(`&limit=1&page_token=${encodeURIComponent(first.next_page)}`);
  expect([...first.macs, ...second.macs]).toEqual(sorted([mac, member]));
  expect((await t.call("GET", "/v2/cn-boot?declared=no")).status).toBe(400);
  okOf(await put([]));
  expect((await listed("")).macs).toEqual([]);
});

const entry = (changes: object) => [{ hostname: "h", macs: ["02:aa:00:00:00:01"], ...changes }];

describe("a roster is refused as a whole because of:", () => {
  test.each<[string, unknown]>([
    ["an object", {}],
    ["no hostname", [{ macs: ["02:aa:00:00:00:01"] }]],
    ["a hostname with a dot", entry({ hostname: "a.b" })],
    ["no MAC", entry({ macs: [] })],
    ["half a MAC", entry({ macs: ["02:aa:00"] })],
    ["a multicast MAC", entry({ macs: ["01:00:5e:00:00:01"] })],
    ["a multicast member", entry({ aggregate: { name: "aggr0", macs: ["ff:ff:ff:ff:ff:ff"] } })],
    ["an aggregate without members", entry({ aggregate: { name: "aggr0", macs: [] } })],
    ["an unknown mode", entry({ aggregate: { name: "aggr0", mode: "on", macs: ["02:aa:00:00:00:01"] } })],
    ["a tag with a space", entry({ nic_tags: ["a b"] })],
    ["an unknown field", entry({ bond: "x" })],
    ["65 MACs", entry({ macs: Array.from({ length: 65 }, newMac) })],
    ["a MAC in two entries", [...entry({}), { hostname: "i", macs: ["02AA00000001"] }]],
    ["a member that another entry has", [
      ...entry({}),
      { hostname: "i", macs: ["02:aa:00:00:00:09"], aggregate: { name: "a", macs: ["02:aa:00:00:00:01"] } },
    ]],
  ])("%s", async (_what, body) => {
    okOf(await put(entry({ hostname: "kept" })));
    expect((await put(body)).status).toBe(400);
    expect(await show()).toEqual([expect.objectContaining({ hostname: "kept" })]);
  });

  test("the error for a MAC address that is declared twice names the address and its entry", async () => {
    const answer = await put([...entry({}), { hostname: "i", macs: ["02-AA-00-00-00-01"] }]);
    expect(answer.body.message).toBe("[1].macs: 02:aa:00:00:00:01 is declared twice");
  });
});

describe("a record gets the declared values of its MAC address", () => {
  test("when it enrols, and its networking then contains hostname, tags and aggregate", async () => {
    const [boot, member, plain] = [newMac(), newMac(), newMac()];
    const aggregate = { name: "aggr0", mode: "passive", macs: [boot, member] };
    okOf(
      await put([
        { hostname: "db-1", macs: [member], nic_tags: ["admin"], aggregate },
        { hostname: "db-2", macs: [plain], nic_tags: ["external"] },
      ]),
    );
    const { hostname, networking } = okOf(await seen(t, boot));
    expect(hostname).toBe("db-1");
    expect(networking).toMatchObject({ hostname: "db-1", nic_tags: ["admin"], aggregate });
    const other = okOf(await t.call("POST", `/v2/cn-boot/${plain}/authorize`));
    expect(other).toMatchObject({ hostname: "db-2", networking: { hostname: "db-2", nic_tags: ["external"] } });
    expect(other.networking).not.toHaveProperty("aggregate");
    expect(okOf(await seen(t, member))).toMatchObject({ hostname: null, networking: { nic_tags: [] } });
  });

  test("only by converge if the record is older than the roster; the record changes once, and only in these values", async () => {
    const [mac, quiet, never] = [newMac(), newMac(), newMac()];
    okOf(await seen(t, mac));
    const before = await showRecord(t, mac);
    okOf(await putPolicy(t, { auto_enroll: false }));
    okOf(await seen(t, quiet));
    okOf(await putPolicy(t));
    okOf(
      await put([
        { hostname: "web-1", macs: [mac], nic_tags: ["external"], aggregate: { name: "aggr1", macs: [mac] } },
        { hostname: "web-2", macs: [quiet] },
        { hostname: "web-3", macs: [never] },
      ]),
    );
    expect(await showRecord(t, mac)).toEqual(before);
    const first = await converge();
    expect(sorted(first.converged)).toEqual(sorted([mac, quiet]));
    expect(first).toMatchObject({ unchanged: [], unknown: [never] });
    const after = await showRecord(t, mac);
    const aggregate = { name: "aggr1", mode: "active", macs: [mac] };
    expect(after).toEqual({
      ...before,
      hostname: "web-1",
      networking: { ...before.networking, hostname: "web-1", nic_tags: ["external"], aggregate },
      updated_at: after.updated_at,
    });
    expect(await showRecord(t, quiet)).toMatchObject({ state: "discovered", hostname: "web-2", networking: null });
    const again = await converge();
    expect([again.converged, sorted(again.unchanged), again.unknown]).toEqual([[], sorted([mac, quiet]), [never]]);
  });

  test("by converge, and loses an aggregate that is no longer declared", async () => {
    const mac = newMac();
    okOf(await put([{ hostname: "app-1", macs: [mac], aggregate: { name: "aggr0", macs: [mac] } }]));
    okOf(await seen(t, mac));
    okOf(await put([{ hostname: "app-1", macs: [mac] }]));
    expect((await converge()).converged).toEqual([mac]);
    expect((await showRecord(t, mac)).networking).not.toHaveProperty("aggregate");
    expect((await converge()).unchanged).toEqual([mac]);
  });

  test("even if the record is decommissioned, and the state does not change", async () => {
    const mac = newMac();
    okOf(await seen(t, mac));
    okOf(await t.call("POST", `/v2/cn-boot/${mac}/decommission`));
    okOf(await put([{ hostname: "old-1", macs: [mac] }]));
    expect((await converge()).converged).toEqual([mac]);
    expect(await showRecord(t, mac)).toMatchObject({ state: "decommissioned", hostname: "old-1" });
  });
});

describe("staged platform images", () => {
  const stage = (stamps: readonly string[], key?: string) =>
    t.call("PUT", "/v2/platform-images", { body: { stamps }, ...(key && { key }) });
  const staged = async () => (await t.call("GET", "/v2/platform-images")).body.items;

  test("each booter replaces its own list of images; the combined list is ordered by stamp", async () => {
    const one = await t.mintKey("booter");
    const two = await t.mintKey("booter");
    expect(await staged()).toEqual([]);
    okOf(await stage(["pi-b", "pi-a", "pi-b"], one.secret));
    const { items } = okOf(await stage(["pi-b"], two.secret));
    const at = expect.stringMatching(/Z$/);
    const row = (stamp: string, staged_by: string) => ({ stamp, kind: "smartos", staged_at: at, staged_by });
    expect(items.map(({ stamp }: { stamp: string }) => stamp)).toEqual(["pi-a", "pi-b", "pi-b"]);
    expect(items).toEqual(expect.arrayContaining([row("pi-a", one.id), row("pi-b", one.id), row("pi-b", two.id)]));
    okOf(await stage(["pi-c"], one.secret));
    expect((await staged()).map(({ stamp }: { stamp: string }) => stamp)).toEqual(["pi-b", "pi-c"]);
    okOf(await stage([], two.secret));
    expect(await staged()).toEqual([row("pi-c", one.id)]);
  });

  test.each([["a..b"], [""], ["a b"], ["a/b"], ["s".repeat(65)], ["ä"]])(
    "a list with the invalid stamp %j gets 400",
    async (stamp) => {
      const before = await staged();
      expect((await stage(["fine", stamp])).status).toBe(400);
      expect(await staged()).toEqual(before);
    },
  );

  test("a stamp may have 64 characters", async () => {
    expect((await stage(["S".repeat(64), ".-_"])).status).toBe(200);
  });
});
