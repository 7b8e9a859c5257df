// Tests how commands of opsctl read the usage, the API keys and the audit chain of a large site.
import { expect, test } from "vitest";
import type { Server } from "./fake-environment.ts";
import { opsctl } from "./opsctl.ts";

const KEY_ID = "0191b0a2-7c1e-7d2f-9a3b-5c6d7e8f9012";

test("`api-key delete PREFIX` asks the server only for the keys with this prefix", async () => {
  const server: Server = ({ method }) =>
    method === "GET" ? { body: [{ id: KEY_ID, description: "d" }] } : { status: 204 };
  const ran = await opsctl(["api-key", "delete", "0191B0A2-7c1e", "--yes"], { server });
  expect([ran.code, ran.err()]).toEqual([0, expect.anything()]);
  expect(ran.asked.map(({ method, path, query }) => [method, path, query])).toEqual([
    ["GET", "/v1/auth/api-keys", { id_prefix: "0191b0a2-7c1e" }],
    ["DELETE", `/v1/auth/api-keys/${KEY_ID}`, {}],
  ]);
});

const project = (silo: string | null, tenant: string | null, project: string | null, id: string) => ({
  silo,
  tenant_id: `t-${tenant}`,
  tenant,
  project_id: id,
  project,
  vcpu_hours: 1,
  memory_gib_hours: 1,
  disk_gib_hours: 1,
  floating_ip_hours: 0,
  network_in_bytes: 0,
  network_out_bytes: 0,
});

test("`usage` reads all pages and lists the projects in the order of their names, deleted ones last", async () => {
  const range = { from: "2026-11-01", to: "2026-11-30", closed: true };
  const server: Server = ({ query }) => ({
    body: query["page_token"] === undefined
      ? { ...range, projects: [project(null, null, null, "1"), project("b", "t", "p", "2")], next_page: "more" }
      : { ...range, projects: [project("a", "t", "q", "3"), project("a", "t", "p", "4")] },
  });
  const ran = await opsctl(["usage", "-o", "jsonpath=.projects[*].project_id"], { server });
  expect([ran.err(), ran.out()]).toEqual(["", "4\n3\n2\n1\n"]);
  expect(ran.asked.map(({ query }) => query)).toEqual([
    { limit: "1000" },
    { limit: "1000", from: range.from, to: range.to, page_token: "more" },
  ]);
});

const HEAD = { seq: 250_000, hash: "ab".repeat(32) };
const PARTS = [
  { from: "0", to: "99999" },
  { from: "100000", to: "199999" },
  { from: "200000" },
];
const verified = ({ query }: { query: Readonly<Record<string, string>> }) => ({
  body: { outcome: { Ok: { verified_to: Math.min(Number(query["to"] ?? HEAD.seq), HEAD.seq) } }, head: HEAD },
});

test("`audit verify` verifies a long chain in parts, and the last part ends at the head", async () => {
  const ran = await opsctl(["audit", "verify"], { server: verified });
  expect(ran.out()).toBe(`Audit chain verified to seq 250000 (head ${HEAD.hash})\n`);
  expect(ran.asked.map(({ query }) => query)).toEqual(PARTS);
  const range = await opsctl(["audit", "verify", "--from", "5", "--to", "150000"], { server: verified });
  expect(range.out()).toBe(`Audit chain verified to seq 150000 (head ${HEAD.hash})\n`);
  expect(range.asked.map(({ query }) => query)).toEqual([{ from: "5", to: "100004" }, {
    from: "100005",
    to: "150000",
  }]);
});

test("`audit verify` stops at the first broken part", async () => {
  const broken = { outcome: { Mismatch: { seq: 123_456, message: "the event is missing" } }, head: HEAD };
  const server: Server = (asked) => asked.query["from"] === "100000" ? { body: broken } : verified(asked);
  const ran = await opsctl(["audit", "verify"], { server });
  expect([ran.code, ran.err()]).toEqual([1, "error: the audit chain is broken at seq 123456: the event is missing\n"]);
  expect(ran.asked.map(({ query }) => query)).toEqual(PARTS.slice(0, 2));
});

test("`audit verify` says which events are verified when the request for a later part fails", async () => {
  const server: Server = (asked) =>
    asked.query["from"] === "200000" ? { status: 400, body: { message: "no" } } : verified(asked);
  const ran = await opsctl(["audit", "verify"], { server });
  expect(ran.code).not.toBe(0);
  expect(ran.err()).toContain("Events 0 to 199999 are verified; continue with --from 200000\n");
});
