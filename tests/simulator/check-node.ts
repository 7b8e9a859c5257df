// INV-2, contents: a node's row is the fold of its log, worked out here from the messages alone, and what the sender
// heard is that row. An approval needed the code that the node showed, before it expired.
import type { Evidence } from "./evidence.ts";
import type { Operation, RowVersion, StampedTransition } from "./journal.ts";
import type { Violation } from "./violation.ts";

/** What is known of a node from its messages. */
type Node = {
  state: string;
  role: string;
  hostname: string;
  claim_code: string | null;
  code_expires_ms: number | null;
  bound_api_key_id: string | null;
  pending_credential: string | null;
};

type Key = { readonly id: string; readonly sealed: string };
type Reply = Readonly<Record<string, unknown>>;

export function checkNodes(evidence: Evidence): readonly Violation[] {
  const found: Violation[] = [];
  for (const [about, steps] of evidence.byActor) {
    if (!about.startsWith("cn:")) continue;
    const say = (text: string) => found.push({ invariant: "2 legal path", about, text });
    const versions = evidence.journal.rows.get(about) ?? [];
    const node: Node = blank();
    let next = 0;
    for (const [index, step] of steps.entries()) {
      const operation = evidence.operations.get(step.msg_id);
      if (operation === undefined) continue;
      fold(node, step, operation, say);
      compareReply(node, operation, say);
      // A unit may hold several steps and writes one row, after the last.
      if (steps[index + 1]?.applied.stamp === step.applied.stamp) continue;
      while (versions[next] !== undefined && versions[next]!.since.stamp < step.applied.stamp) next += 1;
      if (versions[next]?.since.stamp === step.applied.stamp) compareRow(node, versions[next]!, step, say);
    }
  }
  return found;
}

function blank(): Node {
  return {
    state: "absent",
    role: "tenant",
    hostname: "",
    claim_code: null,
    code_expires_ms: null,
    bound_api_key_id: null,
    pending_credential: null,
  };
}

type Say = (text: string) => void;

function fold(node: Node, step: StampedTransition, { message, sent }: Operation, say: Say): void {
  if (step.at.getTime() < sent.ms || step.at.getTime() > step.applied.ms) {
    say(`${step.event} is dated outside its time`);
  }
  node.state = step.to_state;
  switch (step.event) {
    case "register":
      if (step.from_state === "absent") Object.assign(node, blank(), { state: step.to_state });
      node.hostname = String(message["hostname"]);
      if (step.to_state === "pending") showCode(node, step, message);
      else if (step.from_state === "absent") bind(node, message["key"] as Key);
      return;
    case "approve":
      if (node.claim_code !== message["claim_code"]) say(`approved with ${message["claim_code"]}, not its code`);
      if (node.code_expires_ms !== null && step.at.getTime() >= node.code_expires_ms) {
        say("approved with an expired code");
      }
      bind(node, message["key"] as Key);
      return;
    case "key_used":
      if (message["key_id"] !== node.bound_api_key_id) say("erased a credential on the use of another key");
      node.pending_credential = null;
      return;
    case "disable":
      Object.assign(node, { claim_code: null, code_expires_ms: null, pending_credential: null });
      return;
    case "set_role":
      node.role = String(message["role"]);
      return;
    case "remove":
      Object.assign(node, blank());
      return;
  }
}

function showCode(node: Node, step: StampedTransition, message: Operation["message"]): void {
  node.claim_code = String(message["claim_code"]);
  node.code_expires_ms = step.at.getTime() + Number(message["claim_code_ttl_s"]) * 1_000;
  node.bound_api_key_id = null;
  node.pending_credential = null;
}

function bind(node: Node, key: Key): void {
  node.claim_code = null;
  node.code_expires_ms = null;
  node.bound_api_key_id = key.id;
  node.pending_credential = key.sealed;
}

function compareRow(node: Node, version: RowVersion, step: StampedTransition, say: Say): void {
  const row = version.row?.state;
  if (row === null || row === undefined) {
    if (node.state !== "absent") say(`after ${step.event} the row is gone`);
    return;
  }
  const expires = row["claim_code_expires_at"];
  const seen = { ...row, code_expires_ms: expires instanceof Date ? expires.getTime() : null } as Reply;
  for (const [column, value] of Object.entries(node)) {
    if (seen[column] !== value) say(`after ${step.event} ${column} is ${seen[column]}, not ${value}`);
  }
}

/** The answer is the view of what was written by this very message. */
function compareReply(node: Node, { message, out, reply, command }: Operation, say: Say): void {
  if (out !== "ok" || message.type === "remove") return;
  const heard = reply as Reply | null;
  const code = node.claim_code === null ? null : `${node.claim_code.slice(0, 3)}-${node.claim_code.slice(3)}`;
  const same = heard?.["state"] === node.state && heard["claim_code"] === code &&
    (heard["role"] === undefined || heard["role"] === node.role) &&
    (heard["bound_api_key_id"] === undefined || heard["bound_api_key_id"] === node.bound_api_key_id);
  if (!same) say(`${message.type} (command ${command}) was answered with ${JSON.stringify(heard)}`);
}
