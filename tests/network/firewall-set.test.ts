// Tests the requests that read and replace all firewall rules of a VPC, and the request that checks whether a packet
// would pass (docs/networking.md, "Firewall rules").
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FIREWALL_SET_RULES_MAX } from "../../src/contract/limits.ts";
import type { FirewallRule } from "../../src/contract/network.ts";
import { okOf } from "../support/control-plane.ts";
import { bad, type Networks, NOT_FOUND, openNetworks, refusal } from "./networks.ts";

let n: Networks;
let vpc: string;
let path: string;
beforeAll(async () => {
  n = await openNetworks();
});
afterAll(() => n.t.close());
beforeEach(async () => {
  vpc = (await n.vpc()).id;
  path = `/v1/vpcs/${vpc}/firewall-rules`;
});

const allow = { direction: "inbound", action: "allow", priority: 100, protocol: "tcp" } as const;
const ports = (low: number, high = low) => ({ destination_ports: { low, high } });
const put = (items: readonly object[], headers: Record<string, string> = {}) =>
  n.call("PUT", path, { body: { items }, headers });
const read = async () => {
  const answer = await n.call("GET", path);
  return { items: okOf(answer).items as FirewallRule[], etag: answer.headers.get("etag")! };
};
const named = (items: readonly FirewallRule[]) => Object.fromEntries(items.map((rule) => [rule.name, rule]));

describe("a set of rules", () => {
  test("replaces all rules; a rule with the same name keeps its id", async () => {
    const kept = await n.rule(vpc, { ...allow, name: "ssh", ...ports(22) });
    await n.rule(vpc, { ...allow, name: "old" });
    const answer = await put([
      { ...allow, name: "ssh", ...ports(22), source_cidr: "10.1.2.3/8" },
      { ...allow, name: "http", ...ports(80), priority: 200 },
      { ...allow, name: "deny", action: "deny", priority: 200 },
    ]);
    const { items } = okOf(answer);
    expect(items.map(({ name }: FirewallRule) => name)).toEqual(["deny", "http", "ssh"]);
    expect(named(items)["ssh"]).toMatchObject({ id: kept.id, source_cidr: "10.0.0.0/8", created_at: kept.created_at });
    expect(await read()).toEqual({ items, etag: answer.headers.get("etag") });
  });

  test("without a change writes no rule and keeps the ETag", async () => {
    await n.rule(vpc, { ...allow, name: "ssh", source_cidr: "10.0.0.0/8" });
    const before = await read();
    okOf(await put([{ ...allow, name: "ssh", source_cidr: "10.9.9.9/8" }]));
    expect(await read()).toEqual(before);
  });

  test("may be empty", async () => {
    await n.rule(vpc, { name: "ssh" });
    expect(okOf(await put([]))).toEqual({ items: [] });
  });

  test("replaces the stored rules completely or not at all", async () => {
    await n.rule(vpc, { ...allow, name: "ssh" });
    const before = await read();
    expect(refusal(await put([{ ...allow, name: "new" }, { ...allow, name: "bad", protocol: "any", ...ports(1) }])))
      .toEqual(bad("destination_ports needs the protocol tcp or udp, not any"));
    expect(refusal(await put([{ ...allow, name: "a" }, { ...allow, name: "a" }])))
      .toEqual(bad("items: the name a occurs twice"));
    expect(await read()).toEqual(before);
  });

  test("with the maximum number of rules is accepted, and with one more it is refused", async () => {
    const many = Array.from({ length: FIREWALL_SET_RULES_MAX + 1 }, (_, index) => ({ ...allow, name: `r${index}` }));
    expect((await put(many)).status).toBe(400);
    expect(okOf(await put(many.slice(1))).items).toHaveLength(FIREWALL_SET_RULES_MAX);
    expect(okOf(await put([])).items).toEqual([]);
  });

  test("of a VPC that does not exist gets 404", async () => {
    path = `/v1/vpcs/${crypto.randomUUID()}/firewall-rules`;
    expect(refusal(await put([]))).toEqual(NOT_FOUND);
    expect(refusal(await n.call("GET", path))).toEqual(NOT_FOUND);
  });

  test("that is sent twice with one Idempotency-Key replaces the rules once", async () => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    okOf(await put([{ ...allow, name: "a" }], headers));
    const { items: [first] } = await read();
    okOf(await put([{ ...allow, name: "a" }], headers));
    expect((await read()).items).toEqual([first]);
  });
});

describe("If-Match", () => {
  const changes: readonly (readonly [string, (rule: FirewallRule) => Promise<unknown>])[] = [
    ["created", () => n.rule(vpc)],
    ["changed", ({ id }) => n.call("PATCH", `/v1/firewall-rules/${id}`, { body: { priority: 5 } })],
    ["deleted", ({ id }) => n.call("DELETE", `/v1/firewall-rules/${id}`)],
  ];

  test.each(changes)("gets 412 after a rule was %s, and nothing is written", async (_what, change) => {
    const rule = await n.rule(vpc, { ...allow, name: "ssh" });
    const { etag } = await read();
    await change(rule);
    const before = await read();
    const answer = await put([], { "if-match": etag });
    expect([answer.status, answer.body.message]).toEqual([
      412,
      "the firewall rules were changed since you read them; read them again",
    ]);
    expect(await read()).toEqual(before);
    expect((await put([], { "if-match": before.etag })).status).toBe(200);
  });

  test("with the ETag of another resource gets 412, and * matches any rules", async () => {
    expect((await put([], { "if-match": '"boot-policy-1"' })).status).toBe(412);
    expect((await put([], { "if-match": "*" })).status).toBe(200);
  });

  test("lets only one of two concurrent replacements of the same rules succeed", async () => {
    const { etag } = await read();
    const both = await Promise.all(["a", "b"].map((name) => put([{ ...allow, name }], { "if-match": etag })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
    expect((await read()).items).toHaveLength(1);
  });

  test("is optional: without it, all concurrent replacements succeed, and the stored rules are from one of the requests", async () => {
    const names = ["a", "b", "c"];
    const all = await Promise.all(names.map((name) => put([{ ...allow, name }, { ...allow, name: "same" }])));
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200]);
    const left = (await read()).items.map(({ name }) => name).sort();
    expect(names.map((name) => [name, "same"].sort())).toContainEqual(left);
  });
});

describe("the check whether a packet would pass", () => {
  const ask = (query: Record<string, string>) =>
    n.call("GET", `/v1/vpcs/${vpc}/firewall-check?${new URLSearchParams(query)}`);
  const decided = async (query: Record<string, string>) => {
    const { is_allowed, outbound, inbound } = okOf(await ask(query));
    const text = (end: typeof inbound) => end && [end.is_allowed, end.rule?.name ?? null];
    return [is_allowed, text(outbound), text(inbound)];
  };
  const inside = { source: "10.0.1.5", destination: "10.0.2.6", destination_port: "443" };

  test("names the rule that decides at each end", async () => {
    await put([
      { ...allow, name: "web", ...ports(443), source_cidr: "198.51.100.0/24" },
      {
        ...allow,
        name: "no-db",
        direction: "outbound",
        action: "deny",
        ...ports(5432),
        destination_cidr: "10.0.2.0/24",
      },
      { ...allow, name: "ping", protocol: "icmp4", icmp_type_code: { type: 8, code: 0 } },
    ]);
    expect(await decided(inside)).toEqual([true, [true, null], [true, null]]);
    expect(await decided({ ...inside, destination_port: "5432" })).toEqual([false, [false, "no-db"], [true, null]]);
    expect(await decided({ ...inside, source: "198.51.100.7" })).toEqual([true, null, [true, "web"]]);
    expect(await decided({ ...inside, source: "203.0.113.7" })).toEqual([false, null, [false, null]]);
    expect(await decided({ source: "203.0.113.7", destination: "10.0.2.6", protocol: "icmp4" }))
      .toEqual([true, null, [true, "ping"]]);
    expect(await decided({ source: "203.0.113.7", destination: "10.0.2.6", protocol: "icmp4", icmp_type: "13" }))
      .toEqual([false, null, [false, null]]);
    expect(await decided({ source: "fd00:10::5", destination: "2001:db8::1", protocol: "icmp6" }))
      .toEqual([true, [true, null], null]);
  });

  test.each([
    [{ source: "203.0.113.7" }, "neither source 203.0.113.7 nor destination 192.0.2.1 is in the blocks of the vpc"],
    [{ source: "fd00:10::1" }, "source and destination must both be IPv4 or both be IPv6"],
    [{ protocol: "udp", destination_port: "" }, "destination_port"],
    [{ protocol: "icmp6", destination_port: "" }, "protocol: icmp6 does not fit an IPv4 address; use icmp4"],
    [{ protocol: "icmp4" }, "source_port and destination_port need the protocol tcp or udp, not icmp4"],
    [{ icmp_type: "8" }, "icmp_type and icmp_code need the protocol icmp4 or icmp6, not tcp"],
    [{ source: "10.0.0.0/8" }, "source"],
  ])("refuses %j", async (fields, message) => {
    const query = { source: "10.0.1.5", destination: "192.0.2.1", destination_port: "1", ...fields };
    const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ""));
    const answer = await ask(given);
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(message)]);
  });
});
