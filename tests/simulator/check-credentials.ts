// INV-9, after every commit: an approved, disabled or pending node has exactly the key that its record names, or no
// key if the record names none. A removed node has no key. An erased credential stays erased.
import type { Evidence } from "./evidence.ts";
import type { Violation } from "./violation.ts";

type Row = Readonly<Record<string, unknown>>;

export function checkCredentials(evidence: Evidence): readonly Violation[] {
  const found: Violation[] = [];
  const place = new Map<string, number>();
  const keyRow = new Map<string, Row>();
  const keysOf = new Map<string, Set<string>>();
  const nodes = new Map<string, Row | null>();
  const erased = new Set<unknown>();

  for (const call of evidence.journal.calls) {
    const touched = new Set<string>();
    for (const key of call.keys) {
      const index = place.get(key) ?? 0;
      place.set(key, index + 1);
      const row = evidence.journal.rows.get(key)?.[index]?.row?.state ?? null;
      if (key.startsWith("cn:")) touched.add(noteNode(key, row));
      if (key.startsWith("api-key:")) touched.add(noteKey(key, row));
    }
    for (const node of touched) {
      const problem = problemOf(nodes.get(node) ?? null, keysOf.get(node) ?? NONE);
      if (problem !== null) found.push({ invariant: "9 credentials", about: `cn:${node}`, text: problem });
    }
  }
  return found;

  function noteNode(key: string, row: Row | null): string {
    const before = nodes.get(key.slice(3)) ?? null;
    const [kept, now] = [before?.["pending_credential"] ?? null, row?.["pending_credential"] ?? null];
    if (now !== null && erased.has(now)) {
      found.push({ invariant: "9 credentials", about: key, text: `${now} was erased and is back` });
    }
    if (kept !== null && kept !== now) erased.add(kept);
    nodes.set(key.slice(3), row);
    return key.slice(3);
  }

  function noteKey(key: string, row: Row | null): string {
    const node = String((row ?? keyRow.get(key))?.["bound_to_cn"]);
    const keys = keysOf.get(node) ?? new Set();
    keysOf.set(node, keys);
    if (row === null) keys.delete(key.slice(8));
    else {
      keys.add(key.slice(8));
      keyRow.set(key, row);
    }
    return node;
  }
}

const NONE: ReadonlySet<string> = new Set();

function problemOf(node: Row | null, keys: ReadonlySet<string>): string | null {
  const state = node === null ? "absent" : String(node["state"]);
  const bound = node?.["bound_api_key_id"] ?? null;
  if (keys.size > 1) return `${keys.size} live keys`;
  const [key = null] = keys;
  if (state === "approved" || state === "disabled" || state === "pending") {
    return key === bound ? null : `it is ${state} and bound to ${bound}, but the live key is ${key}`;
  }
  return key === null ? null : `it is ${state} and ${key} is live`;
}
