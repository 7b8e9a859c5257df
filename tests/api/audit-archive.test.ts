// A server archives old audit events by itself. The API reads, searches and verifies archived events like other events.
import { expect, test } from "vitest";
import { AUDIT_SEGMENT_EVENTS } from "../../src/contract/limits.ts";
import { okOf, openTestControlPlane } from "../support/control-plane.ts";

const LIMIT_MS = 60_000;
const LOOK_MS = 100;
/** A time that is longer ago than the default of audit.archive_after_secs. */
const OLD = "berth_now() - interval '91 days'";

test(
  "the maintenance of a server archives old events; list, show, search, verify and doctor still read the archived events",
  async () => {
    const first = await openTestControlPlane({ resident: false });
    await first.db.query(
      `insert into transition (actor_kind, actor_id, incarnation, seq, event, from_state, to_state, msg_id, at, audit)
     select 'request', gen_random_uuid()::text, gen_random_uuid(), 1, 'deny', 'none', 'none', gen_random_uuid(), ${OLD},
            jsonb_build_object('actor', jsonb_build_object('kind', 'anonymous'), 'action', 'cn_list', 'resource', null,
              'request_id', null, 'decision', 'deny', 'outcome', jsonb_build_object('kind', 'forbidden'),
              'payload', jsonb_build_object('n', n))
       from generate_series(1, ${AUDIT_SEGMENT_EVENTS + 1}) n`,
    );
    okOf(await first.call("GET", "/v1/audit/events"));
    const server = await openTestControlPlane({ databaseUrl: first.databaseUrl });
    try {
      await expect.poll(
        async () => (await first.db.query("select first_seq, last_seq from audit_segment")).rows,
        { timeout: LIMIT_MS, interval: LOOK_MS },
      ).toEqual([{ first_seq: 0, last_seq: AUDIT_SEGMENT_EVENTS - 1 }]);
      const head = okOf(await server.call("GET", "/v1/audit/events?limit=1")).head;
      expect(head.seq).toBeGreaterThanOrEqual(AUDIT_SEGMENT_EVENTS);
      const verified = okOf(await server.call("GET", "/v1/audit/verify"));
      expect(verified.outcome).toEqual({ Ok: { verified_to: verified.head.seq } });
      expect(okOf(await server.call("GET", "/v1/audit/events/500")).seq).toBe(500);
      const page = okOf(await server.call("GET", `/v1/audit/events?after_seq=${AUDIT_SEGMENT_EVENTS - 3}&limit=3`));
      expect(page.events.map(({ seq }: { seq: number }) => seq)).toEqual([998, 999, 1_000]);
      const found = okOf(await server.call("GET", "/v1/audit/events?order=desc&before_seq=900&action=cn_list&limit=2"));
      expect(found.events.map(({ seq }: { seq: number }) => seq)).toEqual([899, 898]);
      const { checks } = okOf(await server.call("GET", "/v1/system/doctor?scope=all"));
      const audit = checks.filter(({ id }: { id: string }) => id === "INV-17");
      expect(audit.map(({ status, found }: { status: string; found: string[] }) => [status, found])).toEqual(
        audit.map(() => ["ok", []]),
      );
      // A server with another secret cannot verify the archive's signature.
      await first.db.query("delete from secret_check");
      const other = await openTestControlPlane({
        databaseUrl: first.databaseUrl,
        resident: false,
        env: { BERTH_SECRET_KEY: "6f".repeat(32) },
      });
      try {
        expect(okOf(await other.call("GET", "/v1/audit/verify")).outcome).toEqual({
          Mismatch: { seq: 0, message: expect.stringContaining("signed by another key") },
        });
      } finally {
        await other.close();
      }
    } finally {
      await server.close();
      await first.close();
    }
  },
  LIMIT_MS,
);
