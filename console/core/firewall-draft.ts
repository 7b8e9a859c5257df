// Handles an edit of a firewall before the edit is sent: the edited rows as text, their differences from the server's
// rules, and the body of the request.
import type { FirewallRule, PortRange } from "../../src/contract/network.ts";

/** One rule in the table. Every value is text, as the user types it. */
export type DraftRow = {
  /** The id of the rule, or a new key. */
  readonly key: string;
  readonly name: string;
  readonly direction: string;
  readonly priority: string;
  readonly action: string;
  readonly protocol: string;
  readonly source_cidr: string;
  readonly destination_cidr: string;
  readonly destination_ports: string;
};

export const DRAFT_FIELDS = [
  "name",
  "direction",
  "priority",
  "action",
  "protocol",
  "source_cidr",
  "destination_cidr",
  "destination_ports",
] as const satisfies readonly (keyof DraftRow)[];

/** { low: 22, high: 22 } becomes "22"; no range becomes "". */
export function portsText(ports: PortRange | null): string {
  if (ports === null) return "";
  return ports.low === ports.high ? String(ports.low) : `${ports.low}-${ports.high}`;
}

export function draftOf(rule: FirewallRule): DraftRow {
  const { id, name, direction, priority, action, protocol } = rule;
  return {
    key: id,
    name,
    direction,
    priority: String(priority),
    action,
    protocol,
    source_cidr: rule.source_cidr ?? "",
    destination_cidr: rule.destination_cidr ?? "",
    destination_ports: portsText(rule.destination_ports),
  };
}

/** Returns the changes of the rows as short sentences: "adds web", "deletes ssh", "web: priority 100 becomes 200". */
export function changesOf(rules: readonly FirewallRule[], rows: readonly DraftRow[]): string[] {
  const known = new Map(rules.map((rule) => [rule.id, draftOf(rule)]));
  const kept = new Set(rows.map(({ key }) => key));
  return [
    ...rows.flatMap((row) => {
      const before = known.get(row.key);
      if (before === undefined) return [`adds ${row.name || "a rule"}`];
      return DRAFT_FIELDS.filter((field) => before[field] !== row[field])
        .map((field) => `${before.name}: ${field} ${before[field] || "any"} becomes ${row[field] || "any"}`);
    }),
    ...rules.filter(({ id }) => !kept.has(id)).map(({ name }) => `deletes ${name}`),
  ];
}

/**
 * Returns the changes of other users to fields that the table does not show. The draft would reverse these changes,
 * because its body has the values from the start of the edit. `before` are the rules from the start of the edit, and
 * `after` are the server's rules. A rule that only one of the two lists contains is left out.
 */
export function hiddenChangesOf(before: readonly FirewallRule[], after: readonly FirewallRule[]): string[] {
  const now = new Map(after.map((rule) => [rule.id, hiddenOf(rule)]));
  return before.flatMap((rule) => {
    const [was, is] = [hiddenOf(rule), now.get(rule.id) ?? hiddenOf(rule)];
    return Object.keys(was).filter((field) => was[field] !== is[field])
      .map((field) => `${rule.name}: ${field} ${was[field] || "any"} becomes ${is[field] || "any"}`);
  });
}

function hiddenOf({ description, source_ports, icmp_type_code }: FirewallRule): Readonly<Record<string, string>> {
  const icmp = icmp_type_code === null ? "" : JSON.stringify(icmp_type_code);
  return { description, source_ports: portsText(source_ports), icmp_type_code: icmp };
}

/**
 * Returns the body of the PUT. `rules` are the rules from the start of the edit, and `now` are the server's rules.
 * Fields that the table does not show have their values from the start of the edit. Source ports and the ICMP type are
 * null if the new protocol has none. The server checks the body. If a rule in the body has no labels, the server keeps
 * the labels of its own rule with the same name. A renamed rule has a new name, so the body contains its labels. They
 * come from `now`, because labels can change during the edit.
 */
export function bodyOf(rules: readonly FirewallRule[], now: readonly FirewallRule[], rows: readonly DraftRow[]) {
  return {
    items: rows.map(({ key, priority, source_cidr, destination_cidr, destination_ports, ...row }) => {
      const before = rules.find(({ id }) => id === key);
      const labels = (now.find(({ id }) => id === key) ?? before)?.labels;
      const [low = "", high = low] = destination_ports.split("-");
      const ported = row.protocol === "tcp" || row.protocol === "udp";
      const icmp = row.protocol === "icmp4" || row.protocol === "icmp6";
      return {
        ...row,
        ...(before !== undefined && before.name !== row.name && { labels }),
        description: before?.description ?? "",
        priority: Number(priority),
        source_cidr: source_cidr || null,
        destination_cidr: destination_cidr || null,
        destination_ports: destination_ports === "" ? null : { low: Number(low), high: Number(high) },
        source_ports: ported ? before?.source_ports ?? null : null,
        icmp_type_code: icmp ? before?.icmp_type_code ?? null : null,
      };
    }),
  };
}

/** Moves a row up (-1) or down (1) by exchanging priorities with its neighbour of the same direction. */
export function moved(rows: readonly DraftRow[], key: string, by: -1 | 1): readonly DraftRow[] {
  const at = rows.findIndex((row) => row.key === key);
  const [row, other] = [rows[at], rows[at + by]];
  if (row === undefined || other === undefined || row.direction !== other.direction) return rows;
  // An exchange of equal priorities would change nothing, so the moved rule gets a higher or lower number.
  const [mine, theirs] = row.priority === other.priority
    ? [String(Number(row.priority) - by), other.priority]
    : [other.priority, row.priority];
  const next = [...rows];
  next[at + by] = { ...row, priority: mine };
  next[at] = { ...other, priority: theirs };
  return next;
}
