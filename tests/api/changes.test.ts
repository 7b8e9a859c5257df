// Tests the feed of changes: which changes each caller gets, and how soon (docs/web-console.md, "Changes").
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { okOf, openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";
import { newLogin } from "./login.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";

type Ref = { readonly kind: string; readonly id: string };
type Feed = { readonly cursor: string; readonly refs: readonly Ref[]; readonly reset: boolean };

/** The server must answer within this time after a change, so that a page shows the change within 500 ms. */
const ANSWER_MS_MAX = 300;

let t: TestControlPlane;
/** A second process on the same database. */
let second: TestControlPlane;
let ours: TestTenant;
let theirs: TestTenant;
beforeAll(async () => {
  t = await openTestControlPlane();
  second = await openTestControlPlane({ databaseUrl: t.databaseUrl });
  ours = await openTenant(t, "ours");
  theirs = await openTenant(t, "theirs");
});
afterAll(async () => {
  await second.close();
  await t.close();
});

async function read(key: string, after?: string, wait = 0, on = t): Promise<Feed> {
  const query = after === undefined ? "" : `?after=${after}&wait=${wait}`;
  return okOf(await on.call("GET", `/v1/changes${query}`, { key }));
}

/** Reads the feed until it has the change. Notifications of earlier commits may arrive first, in other answers. */
async function readUntil(key: string, { cursor }: Pick<Feed, "cursor">, ref: Ref, on = t): Promise<void> {
  const { refs, ...next } = await read(key, cursor, 20, on);
  expect(next.reset).toBe(false);
  if (!refs.some(({ kind, id }) => kind === ref.kind && id === ref.id)) await readUntil(key, next, ref, on);
}

/** Sends a poll. `waits` resolves when the server has accepted the key and the poll begins to wait for a change. */
function poll(key: string, after: string) {
  const gone = new AbortController().signal;
  const waits = new Promise<"waits">((resolve) => {
    const listen = gone.addEventListener.bind(gone);
    // The server listens for the disconnect of the client only while the poll waits.
    gone.addEventListener = (type: string, listener: EventListenerOrEventListenerObject) => {
      listen(type, listener);
      resolve("waits");
    };
  });
  const headers = { authorization: `Bearer ${key}` };
  const request = new Request(`http://berth.test/v1/changes?after=${after}&wait=20`, { headers });
  return { answer: Promise.resolve(t.plane.fetch(request, { remoteAddress: "192.0.2.20", gone })), waits };
}

const newVpc = async (tenant: TestTenant, on = t): Promise<string> =>
  okOf(
    await on.call("POST", `/v1/vpcs${tenant.selectors}`, {
      body: { name: `v-${randomUUID().slice(0, 8)}`, ipv4_block: "10.0.0.0/16" },
    }),
  ).id;
describe("an operator", () => {
  test("without a cursor gets the current cursor at once; with the cursor gets each later change once", async () => {
    const start = await read(ROOT_KEY);
    expect(start).toEqual({ cursor: expect.any(String), refs: [], reset: false });
    const { server_uuid } = await t.register();
    await t.advance(1);
    const next = await read(ROOT_KEY, start.cursor);
    expect(next.refs.filter(({ kind }) => kind === "cn")).toEqual([{ kind: "cn", id: server_uuid }]);
    expect((await read(ROOT_KEY, next.cursor)).refs).toEqual([]);
  });

  test("that waits gets a change within the time limit", async () => {
    const { cursor } = await read(ROOT_KEY);
    const waiting = read(ROOT_KEY, cursor, 20);
    const id = await newVpc(ours);
    const from = performance.now();
    expect((await waiting).refs).toContainEqual({ kind: "vpc", id });
    expect(performance.now() - from).toBeLessThan(ANSWER_MS_MAX);
  });

  test("gets changes that another process made", async () => {
    const start = await read(ROOT_KEY, undefined, 0, second);
    const id = await newVpc(ours);
    await readUntil(ROOT_KEY, start, { kind: "vpc", id }, second);
  });

  test("with system-read gets changes of every tenant; without it, only changes of its own objects", async () => {
    const reader = await newLogin(t, { capabilities: ["system-read"] });
    const other = await newLogin(t);
    const [of_reader, of_other] = [await read(reader.token), await read(other.token)];
    const id = await newVpc(ours);
    const key = okOf(await t.call("POST", "/v1/auth/api-keys", { key: other.token, body: { description: "d" } }));
    expect((await read(reader.token, of_reader.cursor)).refs).toContainEqual({ kind: "vpc", id });
    expect((await read(other.token, of_other.cursor)).refs).toEqual([{ kind: "api-key", id: key.id }]);
  });
});

describe("S-02: a tenant", () => {
  test("gets changes of its own objects and of public images, and no change of another tenant", async () => {
    const { cursor } = await read(ours.key);
    await newVpc(theirs);
    await t.register();
    const id = await newVpc(ours);
    const image = okOf(
      await t.call("POST", "/v1/images", {
        body: { name: `i-${randomUUID()}`, os: "linux", version: "1", size_bytes: 1, sha256: "5e".repeat(32) },
      }),
    );
    const { refs } = await read(ours.key, cursor);
    expect(refs).toEqual(expect.arrayContaining([{ kind: "vpc", id }, { kind: "image", id: image.id }]));
    expect(new Set(refs.map(({ kind }) => kind))).toEqual(new Set(["vpc", "image", "route-table"]));
  });

  test("that waits gets an empty answer after the full wait if only another tenant's object changes", async () => {
    const { cursor } = await read(ours.key);
    const from = performance.now();
    const waiting = read(ours.key, cursor, 1);
    await newVpc(theirs);
    expect((await waiting).refs).toEqual([]);
    expect(performance.now() - from).toBeGreaterThan(900);
  });

  test("gets the deletion of an object that was in its feed before", async () => {
    const start = await read(ours.key);
    const id = await newVpc(ours);
    const seen = await read(ours.key, start.cursor);
    expect(seen.refs).toContainEqual({ kind: "vpc", id });
    okOf(await t.call("DELETE", `/v1/vpcs/${id}`));
    expect((await read(ours.key, seen.cursor)).refs).toContainEqual({ kind: "vpc", id });
  });

  test("cannot count the changes of the whole site by comparing its cursors", async () => {
    const first = await read(ours.key);
    await newVpc(theirs);
    const next = await read(ours.key, first.cursor);
    expect(next.cursor.slice(0, 8)).not.toBe(first.cursor.slice(0, 8));
  });
});

describe("a cursor", () => {
  test.each(["x", "A".repeat(22), "../..", "%00x"])("that is invalid (%s) gets `reset` or 400", async (after) => {
    const answer = await t.call("GET", `/v1/changes?after=${after}`);
    if (answer.status === 200) expect(answer.body).toMatchObject({ refs: [], reset: true });
    else expect(answer.status).toBe(400);
  });

  test("of another process gets `reset` and a new cursor that works", async () => {
    const { cursor } = await read(ROOT_KEY, undefined, 0, second);
    const answer = await read(ROOT_KEY, cursor);
    expect(answer).toEqual({ cursor: expect.any(String), refs: [], reset: true });
    expect((await read(ROOT_KEY, answer.cursor)).reset).toBe(false);
  });

  test("gets `reset` after a notification that names no objects", async () => {
    const { cursor } = await read(ROOT_KEY);
    await t.db.query("select pg_notify('berth', $1)", [JSON.stringify({ by: "other", refs: "all" })]);
    await expect.poll(async () => (await read(ROOT_KEY, cursor)).reset).toBe(true);
  });
});

describe("S-11: the rights are checked at every poll", () => {
  test("a key that was deleted during the wait gets 401", async () => {
    const { id, secret } = await t.mintKey("full");
    const { cursor } = await read(secret);
    const { answer, waits } = poll(secret, cursor);
    // The server has accepted the key, and has not answered the poll.
    expect(await Promise.race([waits, answer.then(({ status }) => status)])).toBe("waits");
    okOf(await t.call("DELETE", `/v1/auth/api-keys/${id}`));
    expect((await answer).status).toBe(401);
  });

  test("a user who lost system-read during the wait does not see the change", async () => {
    const reader = await newLogin(t, { capabilities: ["system-read"] });
    const { cursor } = await read(reader.token);
    const waiting = read(reader.token, cursor, 1);
    await t.db.query("update user_account set capabilities = '{}' where id = $1", [reader.id]);
    await newVpc(ours);
    expect((await waiting).refs).toEqual([]);
  });
});

test("a stopping server answers the waiting requests", async () => {
  const other = await openTestControlPlane({ databaseUrl: t.databaseUrl });
  const { cursor } = await read(ROOT_KEY, undefined, 0, other);
  const waiting = read(ROOT_KEY, cursor, 20, other);
  await new Promise((wake) => setTimeout(wake, 50));
  other.plane.release();
  expect((await waiting).refs).toEqual([]);
  await other.close();
});
