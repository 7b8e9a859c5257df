// Tests the search of the audit chain (its filters, and lists with the newest event first), and the filters of `opsctl
// audit list` and `opsctl operation list`.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { opsctlAt } from "../cli/at-control-plane.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { addUser } from "./user.ts";

type Event = { readonly seq: number; readonly ts: string; readonly action: string; readonly [field: string]: unknown };
type Page = { readonly events: readonly Event[]; readonly next_before_seq: number | null };

let t: TestControlPlane;
/** The node, the request and the caller of one approval. */
let node: string;
const request_id = randomUUID();
let user_id: string;
let stranger: { readonly id: string; readonly key: string };
beforeAll(async () => {
  t = await openTestControlPlane();
  ({ user_id } = okOf(await t.call("GET", "/v1/auth/whoami")));
  for (let n = 0; n < 3; n++) okOf(await t.call("POST", "/v1/silos", { body: { name: `silo-${n}` } }));
  const { server_uuid, claim_code } = await t.register();
  node = server_uuid;
  okOf(await t.approve(claim_code, { headers: { "x-request-id": request_id } }));
  stranger = await addUser(t.db, "stranger");
  await t.call("POST", "/v1/silos", { key: stranger.key, body: { name: "refused" } });
});
afterAll(() => t.close());

const search = async (query: string): Promise<Page> =>
  okOf(await t.call("GET", `/v1/audit/events?order=desc&${query}`));
const actions = async (query: string) => (await search(query)).events.map(({ action }) => action);

test("with order=desc the newest event is first, and the pages continue to the first event of the chain", async () => {
  const all = okOf(await t.call("GET", "/v1/audit/events?limit=1000")).events.toReversed();
  const found: Event[] = [];
  let before = "";
  for (;;) {
    const { events, next_before_seq } = await search(`limit=2${before}`);
    found.push(...events);
    if (next_before_seq === null) break;
    before = `&before_seq=${next_before_seq}`;
  }
  expect(found).toEqual(all);
});

describe("a filter", () => {
  test("can name an action, a part of the resource, or a request", async () => {
    expect(await actions("action=create_silo&decision=allow")).toEqual(["create_silo", "create_silo", "create_silo"]);
    expect(await actions(`resource=${node}&action=cn_approve`)).toEqual(["cn_approve"]);
    expect(await actions(`request_id=${request_id}`)).toContain("cn_approve");
    expect(await actions("resource=%25")).toEqual([]);
  });

  test("can name a decision or an actor, and finds a user's refused request", async () => {
    expect(await actions("decision=deny")).toEqual(["create_silo"]);
    expect(await actions(`actor=${stranger.id}`)).toEqual(["create_silo"]);
    expect((await actions(`actor=${user_id}`)).length).toBeGreaterThan(3);
  });

  test("`since` includes an event at exactly the given time, and `until` excludes this event", async () => {
    const [event] = (await search("action=cn_approve")).events;
    expect(await actions(`action=cn_approve&since=${event?.ts}`)).toEqual(["cn_approve"]);
    expect(await actions(`action=cn_approve&until=${event?.ts}`)).toEqual([]);
  });

  test.each([
    ["with a large offset", "2020-01-01T00:00:00+16:00"],
    ["with many digits", `2020-01-01T00:00:00.${"1".repeat(130)}Z`],
    ["in the first year", "0001-01-01T23:00:00+23:00"],
  ])("can be a time %s", async (_what, time) => {
    const text = encodeURIComponent(time);
    expect(await actions(`action=cn_approve&since=${text}`)).toEqual(["cn_approve"]);
    expect(await actions(`action=cn_approve&until=${text}`)).toEqual([]);
  });

  test.each(["action=create_silo", "before_seq=3", "order=desc&after_seq=1"])(
    "the query %s is refused, because one of its parameters does not fit the order of the events",
    async (query) => {
      const answer = await t.call("GET", `/v1/audit/events?${query}`);
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining("order=")]);
    },
  );
});

test("opsctl audit list finds events with the same filters", async () => {
  const at = opsctlAt(t);
  const table = await at.printed(`audit list --resource ${node} --action cn_approve`);
  expect(table.split("\n").filter((line) => line.includes("cn_approve"))).toHaveLength(1);
  const { events } = await at.json<Page>("audit list --newest --limit 3");
  expect(events).toHaveLength(3);
  expect(events[0]?.seq).toBeGreaterThan(events[2]?.seq ?? Infinity);
  expect((await at.run("audit list --newest --after-seq 1")).code).not.toBe(0);
});

test("opsctl operation list finds operations by state and kind", async () => {
  const at = opsctlAt(t);
  const kinds = async (argv: string) =>
    (await at.json<readonly { kind: string }[]>(`operation list ${argv}`)).map(({ kind }) => kind);
  await expect.poll(() => kinds("--state succeeded --kind node-join")).toEqual(["node-join"]);
  expect(await kinds("--state stuck")).toEqual([]);
  expect(await kinds("--kind instance-create")).toEqual([]);
});
