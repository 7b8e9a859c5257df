// Tests how an Idempotency-Key identifies one message.
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { claimKey, pruneIdempotency } from "../../src/db/idempotency.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";

let database: FreshDatabase;
let db: Db;

beforeAll(async () => {
  database = await freshDatabase();
  db = openPool({ url: database.url, role: "berth_app" });
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

function claim(of: { key?: string; body?: string; principal?: string; method?: string; path?: string } = {}) {
  const { key = randomUUID(), body = "{}", principal = "user:1", method = "POST", path = "/v1/cn-approvals" } = of;
  return { principal, method, path, key, body_sha256: sha256(body), new_msg_id: randomUUID() };
}

test("a repetition with the same key and body gets the id of the first message", async () => {
  const first = claim();
  expect(await claimKey(db, first)).toEqual({ ok: true, msg_id: first.new_msg_id, repeated: false });
  expect(await claimKey(db, { ...first, new_msg_id: randomUUID() })).toEqual({
    ok: true,
    msg_id: first.new_msg_id,
    repeated: true,
  });
});

test("a repetition with the same key and another body gets 422 and does not change the claim", async () => {
  const first = claim();
  await claimKey(db, first);
  const other = await claimKey(db, { ...claim({ key: first.key, body: "[]" }) });
  expect(other).toMatchObject({ ok: false, fault: { kind: "unprocessable" } });
  expect(await claimKey(db, first)).toMatchObject({ ok: true, msg_id: first.new_msg_id });
});

test("claims of one key by different callers, or for different methods or paths, are independent", async () => {
  const key = "same";
  const longPath = `/v1/config/${randomBytes(4_000).toString("hex")}`;
  const claims = [{}, { principal: "user:2" }, { method: "PUT" }, { path: "/v1/other" }, { path: longPath }, {
    path: `${longPath}x`,
  }].map((of) => claim({ key, ...of }));
  for (const each of claims) {
    expect(await claimKey(db, each)).toEqual({ ok: true, msg_id: each.new_msg_id, repeated: false });
  }
});

test("of concurrent claims of one key, exactly one is new, and all get the same message id", async () => {
  const key = randomUUID();
  const answers = await Promise.all(Array.from({ length: 24 }, () => claimKey(db, claim({ key }))));
  const granted = answers.filter((answer) => answer.ok);
  expect(granted).toHaveLength(24);
  expect(granted.filter(({ repeated }) => !repeated)).toHaveLength(1);
  expect(new Set(granted.map(({ msg_id }) => msg_id)).size).toBe(1);
});

test("a key identifies its message for 24 hours; after this time, the key identifies a new message", async () => {
  const first = claim();
  await claimKey(db, first);
  await db.query("update lab_clock set ahead = ahead + interval '24 hours' - interval '5 s'");
  const second = { ...first, new_msg_id: randomUUID() };
  expect(await claimKey(db, second)).toMatchObject({ msg_id: first.new_msg_id, repeated: true });
  await db.query("update lab_clock set ahead = ahead + interval '5 s'");
  const third = { ...claim({ key: first.key, body: "another" }) };
  expect(await claimKey(db, third)).toEqual({ ok: true, msg_id: third.new_msg_id, repeated: false });
  expect(await claimKey(db, third)).toMatchObject({ ok: true, msg_id: third.new_msg_id });
});

test("pruning removes only keys that are older than 24 hours", async () => {
  await db.query("delete from idempotency");
  await claimKey(db, claim());
  await db.query("update lab_clock set ahead = ahead + interval '24 hours'");
  const young = claim();
  await claimKey(db, young);
  expect(await pruneIdempotency(db)).toBe(1);
  expect((await db.query("select msg_id from idempotency")).rows).toEqual([{ msg_id: young.new_msg_id }]);
});
