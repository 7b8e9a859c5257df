// Tests edits of a firewall that the user has not applied yet.
import { describe, expect, test } from "vitest";
import { bodyOf, changesOf, draftOf, hiddenChangesOf, moved } from "../../console/core/firewall-draft.ts";
import type { FirewallRule } from "../../src/contract/network.ts";

function rule(name: string, fields: Partial<FirewallRule> = {}): FirewallRule {
  return {
    id: `id-${name}`,
    tenant_id: "t",
    project_id: "p",
    project: "p",
    vpc_id: "v",
    vpc: "v",
    name,
    description: "kept",
    labels: {},
    priority: 100,
    direction: "inbound",
    action: "allow",
    protocol: "tcp",
    source_cidr: null,
    destination_cidr: null,
    source_ports: { low: 1_024, high: 65_535 },
    destination_ports: { low: 22, high: 22 },
    icmp_type_code: null,
    realized: null,
    counts: null,
    created_at: "2026-01-01T00:00:00Z",
    ...fields,
  };
}

const RULES = [rule("ssh"), rule("web", { priority: 50, destination_ports: { low: 80, high: 88 } })];
const ROWS = RULES.map(draftOf);

test("without an edit, the list of changes is empty, and the body contains every field of the rules", () => {
  expect(changesOf(RULES, ROWS)).toEqual([]);
  expect(bodyOf(RULES, RULES, ROWS).items[1]).toEqual({
    name: "web",
    description: "kept",
    priority: 50,
    direction: "inbound",
    action: "allow",
    protocol: "tcp",
    source_cidr: null,
    destination_cidr: null,
    source_ports: { low: 1_024, high: 65_535 },
    destination_ports: { low: 80, high: 88 },
    icmp_type_code: null,
  });
});

test("the text of a change names the rule, the field, the earlier value and the new value", () => {
  const [ssh] = ROWS;
  const added = { ...ssh!, key: "new", name: "dns" };
  expect(changesOf(RULES, [{ ...ssh!, source_cidr: "192.0.2.0/24" }, added])).toEqual([
    "ssh: source_cidr any becomes 192.0.2.0/24",
    "adds dns",
    "deletes web",
  ]);
});

test("changes by other users to fields that the table does not show are named, because the draft would reverse them", () => {
  const [ssh, web] = RULES as [FirewallRule, FirewallRule];
  const after = [{ ...ssh, source_ports: null, description: "office only" }, rule("new")];
  expect(hiddenChangesOf(RULES, after)).toEqual([
    "ssh: description kept becomes office only",
    "ssh: source_ports 1024-65535 becomes any",
  ]);
  expect(hiddenChangesOf([web], [web])).toEqual([]);
});

test("a renamed rule keeps its labels", () => {
  const labeled = rule("ssh", { labels: { team: "web" } });
  const [renamed] = bodyOf([labeled], [labeled], [{ ...draftOf(labeled), name: "login" }]).items;
  expect(renamed).toMatchObject({ name: "login", labels: { team: "web" } });
});

test("a renamed rule keeps labels that were set after the edit began", () => {
  const base = rule("ssh");
  const now = { ...base, labels: { owner: "ops" } };
  const rows = [{ ...draftOf(base), name: "login" }];
  expect(bodyOf([base], [now], rows).items[0]).toMatchObject({ name: "login", labels: { owner: "ops" } });
  expect(bodyOf([now], [base], rows).items[0]).toMatchObject({ name: "login", labels: {} });
});

test("a renamed rule that someone else deleted meanwhile gets the labels from the start of the edit", () => {
  const labeled = rule("ssh", { labels: { team: "web" } });
  const [renamed] = bodyOf([labeled], [], [{ ...draftOf(labeled), name: "login" }]).items;
  expect(renamed).toMatchObject({ name: "login", labels: { team: "web" } });
});

test("a change to a protocol without ports also removes the source ports, which the table does not show", () => {
  const [ssh] = ROWS;
  const [body] = bodyOf(RULES, RULES, [{ ...ssh!, protocol: "any", destination_ports: "" }]).items;
  expect(body).toMatchObject({ source_ports: null, destination_ports: null });
});

describe("a move", () => {
  test("of a rule swaps the priorities of the rule and its neighbour", () => {
    const rows = moved(ROWS, "id-web", -1);
    expect(rows.map(({ name, priority }) => [name, priority])).toEqual([["web", "100"], ["ssh", "50"]]);
  });

  test("of a rule above a rule of equal priority raises the priority of the moved rule by one", () => {
    const same = [rule("a"), rule("b")].map(draftOf);
    expect(moved(same, "id-b", -1).map(({ name, priority }) => [name, priority])).toEqual([["b", "101"], ["a", "100"]]);
  });

  test("of a rule past the end of the table, or past a rule of the other direction, changes nothing", () => {
    expect(moved(ROWS, "id-ssh", -1)).toBe(ROWS);
    const other = [ROWS[0]!, draftOf(rule("out", { direction: "outbound" }))];
    expect(moved(other, "id-ssh", 1)).toBe(other);
  });
});
