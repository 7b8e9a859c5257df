// Tests the order, the pages and the filters of `audit list`.
import { expect, test } from "vitest";
import type { Server } from "./fake-environment.ts";
import { opsctl } from "./opsctl.ts";

const USER_ID = "99999999-0000-4000-8000-0000000000aa";

function event(seq: number) {
  const actor = { kind: "api_key", key_id: "k1", user_id: "u1" };
  return { seq, ts: "t", actor, action: "cn_approve", resource: null, decision: "allow", outcome: { kind: "success" } };
}

test("`audit list --oldest` reads pages up to --limit and notes where to continue", async () => {
  const head = { seq: 5_000, hash: "h" };
  const server: Server = ({ query }) => {
    const first = query.after_seq === undefined ? 0 : Number(query.after_seq) + 1;
    return { body: { events: Array.from({ length: Number(query.limit) }, (_, i) => event(first + i)), head } };
  };
  const ran = await opsctl(["audit", "list", "--oldest", "--limit", "1500", "-o", "csv"], { server });
  expect(ran.asked.map(({ query }) => query)).toEqual([{ limit: "1000" }, { limit: "500", after_seq: "999" }]);
  expect(ran.out().trimEnd().split("\n")).toHaveLength(1 + 1500);
  expect(ran.err()).toBe("More events follow; continue with --after-seq 1499\n");
});

test("`audit list --tail` prints the newest events, oldest first", async () => {
  const event = (seq: number) => ({ seq, ts: "2026-11-21T10:00:00Z", actor: { kind: "system" }, action: `a${seq}` });
  const server = ({ query }: { query: Readonly<Record<string, string>> }) => ({
    body: query["limit"] === "2" && query["order"] === "desc"
      ? { events: [event(9), event(8)], head: null, next_before_seq: 8 }
      : { events: [], head: null, next_before_seq: null },
  });
  const ran = await opsctl(["audit", "list", "--tail", "2", "-o", "jsonpath=.items[*].seq"], {
    server,
  });
  expect([ran.err(), ran.out()]).toEqual(["", "8\n9\n"]);
});

test.each([
  [["--tail", "2"], "8\n9\n"],
  [["--tail", "2", "--newest"], "9\n8\n"],
  [["--newest", "--limit", "2"], "9\n8\n"],
])("`audit list` %j prints the newest events in the order %j", async (words, printed) => {
  const page = { events: [event(9), event(8)], head: null, next_before_seq: 8 };
  const ran = await opsctl(["audit", "list", ...words, "-o", "jsonpath=.items[*].seq"], {
    server: ({ query }) => ({ body: query["order"] === "desc" ? page : { events: [event(1)], head: null } }),
  });
  expect([ran.err(), ran.out()]).toEqual(["", printed]);
});

test("every format of `audit list` has the same events, newest first; --oldest begins with the oldest event, and --after-seq continues", async () => {
  const server: Server = ({ query }) => ({
    body: query["order"] === "desc"
      ? { events: [event(9), event(8)], head: { seq: 9, hash: "h" }, next_before_seq: 8 }
      : { events: [event(1), event(2)], head: { seq: 9, hash: "h" }, next_before_seq: null },
  });
  const seqs = async (...words: readonly string[]) => {
    const ran = await opsctl(["audit", "list", "--limit", "2", "--columns", "seq", "--no-headers", ...words], {
      server,
    });
    return [ran.out().trim().split(/\s+/).join(), ran.err()];
  };
  const earlier = "Earlier events may exist; raise --limit to see them, or list the oldest first with --oldest\n";
  for (const words of [[], ["-o", "csv"], ["-o", "jsonpath=.items[*].seq"]]) {
    expect(await seqs(...words)).toEqual(["9,8", earlier]);
    expect(await seqs("--oldest", ...words)).toEqual(["1,2", "More events follow; continue with --after-seq 2\n"]);
  }
  expect(await seqs("-q")).toEqual(["9,8", ""]);
  expect(await seqs("--after-seq", "0")).toEqual(["1,2", "More events follow; continue with --after-seq 2\n"]);
  for (const words of [["--oldest", "--newest"], ["--after-seq", "0", "--tail", "2"], ["--oldest", "--action", "a"]]) {
    expect(await seqs(...words)).toEqual([
      "",
      `error: ${words[0]} lists the oldest events first; leave out --newest, --tail and the filters\n`,
    ]);
  }
});

test("`audit list` accepts an age by the server's clock for --since, and a username for --actor", async () => {
  const server: Server = ({ path }) =>
    path === "/v1/system/users"
      ? { body: { items: [{ id: USER_ID, username: "root" }] } }
      : { body: { events: [], head: null, next_before_seq: null }, headers: { date: "Sat, 21 Nov 2026 10:00:00 GMT" } };
  const wall_ms = Date.parse("2031-01-01T00:00:00Z");
  const argv = ["audit", "list", "--actor", "root", "--since", "90m", "--until", "2026-11-21T09:00:00Z"];
  const ran = await opsctl(argv, { server, wall_ms });
  expect([ran.code, ran.err()]).toEqual([0, ""]);
  expect(ran.asked.at(-1)?.query).toMatchObject({
    actor: USER_ID,
    since: "2026-11-21T08:30:00.000Z",
    until: "2026-11-21T09:00:00Z",
  });
  const wrong = await opsctl(["audit", "list", "--since", "yesterday"], { server, wall_ms });
  expect([wrong.code, wrong.err(), wrong.asked]).toEqual([
    2,
    "error: --since yesterday is not a time; write 2026-09-01T12:00:00Z, or an age: 90s, 30m, 12h or 7d\n",
    [],
  ]);
  const missing = await opsctl(["audit", "list", "--actor", "rot"], { server, wall_ms });
  expect([missing.code, missing.err()]).toEqual([3, "error: no user has the name rot; did you mean root?\n"]);
});
