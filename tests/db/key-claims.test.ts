// Tests claims of Idempotency-Keys. Several claims share one SQL statement.
import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { KeyAnswer, KeyClaim } from "../../src/db/idempotency.ts";
import { createKeyClaims } from "../../src/db/key-claims.ts";
import { type Db, type DbClient, openPool, sqlState } from "../../src/db/pool.ts";
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

function claim(of: Partial<KeyClaim> = {}): KeyClaim {
  return {
    principal: "user:1",
    method: "POST",
    path: "/v1/instances",
    key: randomUUID(),
    body_sha256: createHash("sha256").update("{}").digest("hex"),
    new_msg_id: randomUUID(),
    ...of,
  };
}

/** Counts the statements, and sends them to the database. */
function counted(client: DbClient) {
  const counts = { statements: 0 };
  const query: DbClient["query"] = (...args) => {
    counts.statements += 1;
    return client.query(...args);
  };
  return { counts, query };
}

/** Delays every claim of a key by this time. */
async function slowKeys(seconds: number): Promise<void> {
  const owner = openPool({ url: database.url, connectionsMax: 1 });
  await owner.query(
    `create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(${seconds}); return new; end $$;
     create trigger slow before insert on idempotency for each row execute function slow()`,
  );
  await owner.close();
}
async function fastKeys(): Promise<void> {
  const owner = openPool({ url: database.url, connectionsMax: 1 });
  await owner.query("drop function slow cascade");
  await owner.close();
}

const fresh = ({ new_msg_id }: KeyClaim): KeyAnswer => ({ ok: true, msg_id: new_msg_id, repeated: false });

test("claims that arrive together share a statement, and each gets its own answer", async () => {
  const client = counted(db);
  const claimKey = createKeyClaims(client);
  const claims = Array.from({ length: 50 }, (_, n) => claim({ place: { tenant_id: String(n) } }));
  expect(await Promise.all(claims.map(claimKey))).toEqual(claims.map(fresh));
  expect(client.counts.statements).toBe(1);
  const other = "f".repeat(64);
  const again = claims.map((each, n) => ({
    ...each,
    new_msg_id: randomUUID(),
    ...(n === 7 && { body_sha256: other }),
  }));
  const answers = await Promise.all(again.map(claimKey));
  expect(client.counts.statements).toBe(2);
  expect(answers[7]).toMatchObject({ ok: false, fault: { kind: "unprocessable" } });
  expect(answers.toSpliced(7, 1)).toEqual(
    claims.toSpliced(7, 1).map(({ new_msg_id }) => ({ ok: true, msg_id: new_msg_id, repeated: true })),
  );
  const { rows } = await db.query("select place from idempotency where key = $1", [claims[7]!.key]);
  expect(rows).toEqual([{ place: { tenant_id: "7" } }]);
});

test("claims of one key that arrive together get the id of the first claim", async () => {
  const client = counted(db);
  const claimKey = createKeyClaims(client);
  const first = claim();
  const others = Array.from({ length: 3 }, () => ({ ...first, new_msg_id: randomUUID() }));
  const answers = await Promise.all([first, ...others].map(claimKey));
  expect(answers).toEqual([
    fresh(first),
    ...others.map(() => ({ ok: true, msg_id: first.new_msg_id, repeated: true })),
  ]);
});

test("claims that arrive while a statement runs share the next statement", async () => {
  // Stops the timers, because the next statement also begins when the time limit of 10 ms passes.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const gate = Promise.withResolvers<void>();
    const client = counted({ query: (...args) => gate.promise.then(() => db.query(...args)) });
    const claimKey = createKeyClaims(client);
    const claims = [claim(), claim(), claim()];
    const answers: Promise<KeyAnswer>[] = [];
    for (const each of claims) {
      answers.push(claimKey(each));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(client.counts.statements).toBe(1);
    gate.resolve();
    expect(await Promise.all(answers)).toEqual(claims.map(fresh));
    expect(client.counts.statements).toBe(2);
  } finally {
    vi.useRealTimers();
  }
});

test("claims that do not fit into a full statement do not wait for the answer to this statement", async () => {
  const gate = Promise.withResolvers<void>();
  const sizes: number[] = [];
  const claimKey = createKeyClaims({
    query: async (sql, params, name) => {
      sizes.push((params![0] as readonly unknown[]).length);
      if (sizes.length === 1) await gate.promise;
      return await db.query(sql, params, name);
    },
  });
  const claims = Array.from({ length: 129 }, () => claim());
  const answers = claims.map(claimKey);
  expect(await answers[128]).toEqual(fresh(claims[128]!));
  expect(sizes).toEqual([128, 1]);
  gate.resolve();
  expect(await Promise.all(answers)).toEqual(claims.map(fresh));
});

test("a claim that the database refuses does not affect the claims that share its statement", async () => {
  const claimKey = createKeyClaims(db);
  const [good, bad, alsoGood] = [claim(), claim({ body_sha256: "not a digest" }), claim()];
  const [first, refused, last] = await Promise.allSettled([good, bad, alsoGood].map(claimKey));
  expect(refused!.status).toBe("rejected");
  expect([first, last]).toEqual([good, alsoGood].map((each) => ({ status: "fulfilled", value: fresh(each) })));
});

test("if an answer is lost, the claims are repeated, and each claim still counts as the first with its key", async () => {
  let lost = 0;
  const claimKey = createKeyClaims({
    query: async (...args) => {
      const answer = await db.query(...args);
      if (lost++ === 0) throw Object.assign(new Error("the connection ended"), { code: "ECONNRESET" });
      // deno-lint-ignore no-explicit-any -- the rows of the statement
      return answer as any;
    },
  });
  const claims = [claim(), claim()];
  expect(await Promise.all(claims.map(claimKey))).toEqual(claims.map(fresh));
  expect(lost).toBe(3);
});

describe("the claims fail and are not repeated after a timeout", () => {
  async function failAll(client: DbClient) {
    const counting = counted(client);
    const claimKey = createKeyClaims(counting);
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => claimKey(claim())));
    expect(counting.counts.statements).toBe(1);
    return results.map((result) => result.status === "rejected" ? result.reason : null);
  }

  test("of the driver", async () => {
    const late = new Error("Query read timeout");
    expect(new Set(await failAll({ query: () => Promise.reject(late) }))).toEqual(new Set([late]));
  });

  test("of PostgreSQL", async () => {
    const hasty = openPool({ url: database.url, connectionsMax: 1, statementLimit_ms: 100 });
    await slowKeys(0.2);
    try {
      expect(new Set((await failAll(hasty)).map(sqlState))).toEqual(new Set(["57014"]));
    } finally {
      await fastKeys();
      await hasty.close();
    }
  });
});

test("a claim that waits too long for a locked key does not affect the claims that share its statement", async () => {
  const claimKey = createKeyClaims(db);
  const [free, locked] = [claim(), claim()];
  await claimKey(locked);
  await db.withClient(async (client) => {
    await client.query("begin");
    await client.query("select from idempotency where key = $1 for update", [locked.key]);
    const [first, second] = await Promise.allSettled([free, locked].map(claimKey));
    expect(first).toEqual({ status: "fulfilled", value: fresh(free) });
    expect(sqlState((second as PromiseRejectedResult).reason)).toBe("55P03");
    await client.query("rollback");
  });
});
