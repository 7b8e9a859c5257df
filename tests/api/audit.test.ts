// Tests the audit chain through the API (docs/reliability.md, S-39 and S-40).
import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { okOf, openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";
import { dumpTables, tablesWith } from "../support/dump.ts";
import { addUser } from "./user.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
});
afterAll(() => t.close());

type Event = { seq: number; action: string; decision: string; actor: Record<string, unknown>; [key: string]: unknown };

const list = async (query = "limit=1000") => (await t.call("GET", `/v1/audit/events?${query}`)).body;
const verify = async (query = "") => (await t.call("GET", `/v1/audit/verify${query}`)).body;
const headSeq = async (): Promise<number> => (await list("limit=1")).head?.seq ?? -1;
/**
 * Returns the audit events that `act` adds. Adds a marker event before `act` and one after it, waits until the chain
 * has both markers, and returns the events between them. The wait can be long, because a long transaction anywhere in
 * the cluster delays the chain.
 */
async function added(act: () => Promise<unknown>): Promise<Event[]> {
  const from = await mark();
  await act();
  const to = await mark();
  for (;;) {
    const { events }: { events: Event[] } = await list(`after_seq=${from.seq}&limit=1000`);
    const [first, last] = [from, to].map(({ request_id }) =>
      events.findIndex((each) => each.request_id === request_id)
    );
    if (last !== -1) return events.slice(first! + 1, last);
  }
}

async function mark(): Promise<{ readonly request_id: string; readonly seq: number }> {
  const seq = await headSeq();
  const request_id = randomUUID();
  const headers = { "x-request-id": request_id };
  okOf(await t.call("POST", "/v1/auth/api-keys", { headers, body: { description: "a mark" } }));
  return { request_id, seq };
}

test("an event has the fields of the specification, and its hash is the hash of its canonical text", async () => {
  const { server_uuid, claim_code } = await t.register();
  let answer = await t.call("GET", "/v1/auth/whoami");
  const events = await added(async () => answer = await t.approve(claim_code));
  const event = events.find(({ action }) => action === "cn_approve");
  const { user_id, key_id } = (await t.call("GET", "/v1/auth/whoami")).body;
  expect(event).toEqual({
    seq: expect.any(Number),
    ts: expect.stringMatching(/Z$/),
    actor: { kind: "api_key", key_id, user_id },
    action: "cn_approve",
    resource: `Cn::"${server_uuid}"`,
    request_id: answer.headers.get("x-request-id"),
    decision: "allow",
    outcome: { kind: "success", resource: `Cn::"${server_uuid}"` },
    payload: expect.objectContaining({ server_uuid, bound_api_key_id: answer.body.bound_api_key_id }),
    prev_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  const { hash, ...hashed } = event!;
  expect(createHash("sha256").update(sorted(hashed)).digest("hex")).toBe(hash);
});

/** Returns the text whose hash is the event's hash: compact JSON with sorted keys at every level. */
function sorted(value: unknown): string {
  return JSON.stringify(
    value,
    (_key, each) =>
      typeof each === "object" && each !== null && !Array.isArray(each)
        ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
        : each,
  );
}

test("events are numbered from 0 without gaps, and each has the hash of the previous event", async () => {
  const { events, head } = await list();
  expect(events[0]).toMatchObject({ seq: 0, prev_hash: "0".repeat(64) });
  for (const [index, event] of events.entries()) {
    expect(event.seq).toBe(index);
    if (index > 0) expect(event.prev_hash).toBe(events[index - 1].hash);
  }
  expect(head).toEqual({ seq: events.at(-1).seq, hash: events.at(-1).hash });
});

test("a list begins after after_seq, limit is at most 1,000, and an event can be read by its number", async () => {
  const { events } = await list();
  expect((await list("after_seq=0&limit=1")).events).toEqual([events[1]]);
  expect((await t.call("GET", "/v1/audit/events?limit=1001")).status).toBe(400);
  expect((await t.call("GET", "/v1/audit/events/1")).body).toEqual(events[1]);
  expect((await t.call("GET", `/v1/audit/events/${events.length + 100}`)).status).toBe(404);
});

describe("S-40: every audited change adds exactly one event with its action", () => {
  const node = async () => (await t.register()).server_uuid;
  test.each<[string, () => Promise<() => Promise<{ status: number }>>]>([
    ["cn_approve", async () => {
      const { claim_code } = await t.register();
      return () => t.approve(claim_code);
    }],
    ["cn_disable", async () => {
      const id = await node();
      return () => t.call("POST", `/v1/cns/${id}/disable`);
    }],
    ["cn_set_role", async () => {
      const id = await node();
      return () => t.call("POST", `/v1/cns/${id}/role`, { body: { role: "edge" } });
    }],
    ["cn_set_reservoir", async () => {
      const id = await node();
      return () => t.call("POST", `/v1/cns/${id}/reservoir`, { body: { reservoir_percent: 0.1 } });
    }],
    ["cn_remove", async () => {
      const id = await node();
      return () => t.call("DELETE", `/v1/cns/${id}`);
    }],
    [
      "auto_approve_set",
      () => Promise.resolve(() => t.call("POST", "/v1/cn-auto-approve", { body: { duration_secs: 9, count: 1 } })),
    ],
    ["auto_approve_clear", () => Promise.resolve(() => t.call("DELETE", "/v1/cn-auto-approve"))],
    [
      "create_api_key",
      () => Promise.resolve(() => t.call("POST", "/v1/auth/api-keys", { body: { description: "audited" } })),
    ],
    ["delete_api_key", async () => {
      const { id } = await t.mintKey("full");
      return () => t.call("DELETE", `/v1/auth/api-keys/${id}`);
    }],
    [
      "config_set",
      () => Promise.resolve(() => t.call("PUT", "/v1/config/imds.hop_limit_default", { body: { value: 2 } })),
    ],
    ["config_reset", () => Promise.resolve(() => t.call("DELETE", "/v1/config/imds.hop_limit_default"))],
    ["agent_register", () =>
      Promise.resolve(async () => {
        await t.register();
        return { status: 200 };
      })],
  ])("%s", async (action, arrange) => {
    const act = await arrange();
    let status = 0;
    const events = await added(async () => status = (await act()).status);
    expect(status).toBeLessThan(300);
    // Approval also creates the node's key, which has its own event.
    expect(events.filter((event) => event.action === action)).toHaveLength(1);
    expect(events.every((event) => event.decision === "allow")).toBe(true);
  });
});

test("reads, invalid requests and repeated requests add no event", async () => {
  const { server_uuid } = await t.register();
  const headers = { "idempotency-key": "audited-once" };
  await t.call("POST", `/v1/cns/${server_uuid}/disable`, { headers });
  const events = await added(async () => {
    await t.call("GET", "/v1/system/cns");
    await t.call("POST", `/v1/cns/${server_uuid}/role`, { body: { role: "none" } });
    await t.call("POST", `/v1/cns/${server_uuid}/disable`, { headers });
    await t.call("GET", "/v1/audit/verify");
  });
  expect(events).toEqual([]);
});

test("a denied request is recorded with the caller's key and the action; a request without a valid credential is not recorded", async () => {
  const reader = await t.mintKey("read_only");
  const user = await addUser(t.db, "denied");
  const { server_uuid } = await t.register();
  const disable = (key: string | null) => t.call("POST", `/v1/cns/${server_uuid}/disable`, { key });
  const events = await added(async () => {
    await disable(reader.secret);
    await t.call("GET", "/v1/config", { key: user.key });
    await t.call("GET", "/v1/system/cns", { key: user.key });
    await disable(null);
    await disable("garbage");
  });
  expect(events.map(({ action, decision, outcome }) => ({ action, decision, outcome }))).toEqual([
    { action: "cn_disable", decision: "deny", outcome: { kind: "forbidden" } },
    { action: "config_get", decision: "deny", outcome: { kind: "forbidden" } },
    { action: "system_read", decision: "deny", outcome: { kind: "forbidden" } },
  ]);
  expect(events[0]?.actor).toMatchObject({ kind: "api_key", key_id: reader.id });
  expect(events[1]?.actor).toMatchObject({ kind: "api_key", user_id: user.id });
});

test("no event contains a key, a claim code or a poll token", async () => {
  const node = await t.approvedNode();
  const { secret } = await t.mintKey("full");
  const pending = await t.register();
  await list();
  const events = new Map([["audit_event", (await dumpTables(t.db)).get("audit_event") ?? []]]);
  for (const text of [node.api_key, secret, ROOT_KEY].map((key) => key.slice(-32))) {
    expect(tablesWith(events, text)).toEqual([]);
  }
  for (const text of [pending.poll_token, pending.claim_code, pending.claim_code.replace("-", "")]) {
    expect(tablesWith(events, text)).toEqual([]);
  }
});

describe("verify of more than 1,000 events", () => {
  beforeAll(async () => {
    const nodes = await Promise.all(Array.from({ length: 50 }, () => t.register()));
    for (let round = 0; round < 20; round++) {
      const body = { role: round % 2 === 0 ? "edge" : "both" };
      await Promise.all(nodes.map(({ server_uuid }) => t.call("POST", `/v1/cns/${server_uuid}/role`, { body })));
    }
    await list();
    await t.db.query("create table audit_copy as table audit_event");
  });

  async function tampered(change: string): Promise<{ seq: number; message: string } | undefined> {
    await t.db.query(change);
    const { outcome } = await verify();
    await t.db.query("delete from audit_event");
    await t.db.query("insert into audit_event select * from audit_copy");
    return outcome.Mismatch;
  }

  test("reports Ok for an unchanged chain and for a part of it", async () => {
    const { outcome, head } = await verify();
    expect(head.seq).toBeGreaterThan(1_000);
    expect(outcome).toEqual({ Ok: { verified_to: head.seq } });
    expect((await verify("?from=500&to=600")).outcome).toEqual({ Ok: { verified_to: 600 } });
  });

  test.each([
    [
      "one changed byte",
      "update audit_event set canonical = overlay(canonical placing '~' from 40) where seq = 517",
      517,
    ],
    ["a changed hash", "update audit_event set hash = repeat('a', 64) where seq = 517", 517],
    ["a changed prev_hash", "update audit_event set prev_hash = repeat('a', 64) where seq = 517", 517],
    ["the first event changed", "update audit_event set canonical = canonical || ' ' where seq = 0", 0],
    ["a deleted event", "delete from audit_event where seq = 700", 700],
    [
      "two swapped events",
      `update audit_event e set canonical = o.canonical, hash = o.hash, prev_hash = o.prev_hash
         from audit_copy o where e.seq in (300, 301) and o.seq = 601 - e.seq`,
      300,
    ],
    [
      "a rewritten event with a matching hash",
      `update audit_event set canonical = replace(canonical, 'cn_set_role', 'cn_approve'),
         hash = encode(sha256(convert_to(replace(canonical, 'cn_set_role', 'cn_approve'), 'UTF8')), 'hex') where seq = 800`,
      801,
    ],
    [
      "an inserted event after the head",
      `insert into audit_event select seq + 1, -1, canonical, hash, repeat('b', 64) from audit_event
        order by seq desc limit 1`,
      -1,
    ],
  ])("reports a Mismatch at the first event that does not fit: %s", async (_what, change, seq) => {
    const { head } = await verify();
    expect((await tampered(change))?.seq).toBe(seq === -1 ? head.seq + 1 : seq);
  });

  test("reports a Mismatch at the first missing event when the newest events were deleted", async () => {
    const { head } = await verify();
    expect((await tampered(`delete from audit_event where seq > ${head.seq - 5}`))?.seq).toBe(head.seq - 4);
  });

  test("reports a Mismatch at each of 50 events in which a byte was changed", async () => {
    for (let seq = 0; seq < 1_000; seq += 20) {
      await t.db.query(
        "update audit_event set canonical = overlay(canonical placing '~' from (seq * 7 % length(canonical) + 1)::int) where seq = $1",
        [seq],
      );
      const range = `?from=${seq}&to=${seq}`;
      expect((await verify(range)).outcome).toEqual({ Mismatch: { seq, message: expect.any(String) } });
      await t.db.query(
        "update audit_event e set canonical = c.canonical from audit_copy c where c.seq = e.seq and e.seq = $1",
        [seq],
      );
    }
    expect((await verify()).outcome).toHaveProperty("Ok");
  });
});
