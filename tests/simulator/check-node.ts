// INV-2, contents: a node's row has the values that its logged messages produce. This file computes these values
// independently of the code under test. The answers show the same values. An approval contains its claim's last code,
// and comes before this code expires. A node has no claims just after it was disabled.
import { refKey } from "../../actors/engine/types.ts";
import type { Evidence } from "./evidence.ts";
import type { Operation, RowVersion, StampedTransition } from "./journal.ts";
import type { Violation } from "./violation.ts";

/** The state of a node, computed from its logged messages. */
type Node = {
  state: string;
  role: string;
  hostname: string;
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
      if (operation === undefined && step.event !== "last_claim_ended") continue;
      fold(evidence, node, step, say);
      if (operation !== undefined && refKey(operation.to) === about) compareReply(node, operation, say);
      if (step.event === "disable") { for (const text of claimsLeft(evidence, step)) say(text); }
      // A unit may have several steps. It writes one row, after the last step.
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
    bound_api_key_id: null,
    pending_credential: null,
  };
}

type Say = (text: string) => void;

function fold(evidence: Evidence, node: Node, step: StampedTransition, say: Say): void {
  const operation = evidence.operations.get(step.msg_id);
  const message = operation?.message ?? { type: "tick" };
  const early = operation !== undefined && step.at.getTime() < operation.sent.ms;
  if (early || step.at.getTime() > step.applied.ms) {
    say(`${step.event} has a time before its request or after its commit`);
  }
  node.state = step.to_state;
  switch (step.event) {
    case "join":
      Object.assign(node, blank(), { state: step.to_state, hostname: String(message["hostname"]) });
      bind(node, message["key"] as Key);
      return;
    case "claimed":
      // A claim changes only the state of an existing node.
      if (step.from_state !== "absent") return;
      Object.assign(node, blank(), { state: step.to_state, hostname: String(message["hostname"]) });
      return;
    case "last_claim_ended":
      if (step.to_state === "absent") Object.assign(node, blank());
      return;
    case "refresh":
      node.hostname = String(message["hostname"]);
      return;
    case "approve": {
      const claim = message["claim"] as Record<string, unknown>;
      for (const text of codeProblems(evidence, step, { id: claim["id"], code: message["claim_code"] })) say(text);
      node.hostname = String(claim["hostname"]);
      bind(node, message["key"] as Key);
      return;
    }
    case "key_used":
      if (message["key_id"] !== node.bound_api_key_id) say("erased a credential on the use of another key");
      node.pending_credential = null;
      return;
    case "disable":
      node.pending_credential = null;
      return;
    case "set_role":
      node.role = String(message["role"]);
      return;
    case "remove":
      Object.assign(node, blank());
      return;
  }
}

/** Compares the approval's code with the claim's last code and its expiry. */
function codeProblems(
  evidence: Evidence,
  step: StampedTransition,
  { id, code }: { readonly id: unknown; readonly code: unknown },
): readonly string[] {
  const shown = (evidence.byActor.get(`enrolment-claim:${id}`) ?? []).filter(({ event, applied }) =>
    (event === "register" || event === "renew") && applied.stamp < step.applied.stamp
  ).at(-1);
  const message = shown === undefined ? undefined : evidence.operations.get(shown.msg_id)?.message;
  if (shown === undefined || message === undefined || message["claim_code"] !== code) {
    return [`approved with ${code}, not the claim's code`];
  }
  const expires_ms = shown.at.getTime() + Number(message["claim_code_ttl_s"]) * 1_000;
  return step.at.getTime() >= expires_ms ? ["approved with an expired code"] : [];
}

/** Returns a problem for each claim that a node still had after it was disabled. */
function claimsLeft({ journal }: Evidence, { actor_id, applied }: StampedTransition): readonly string[] {
  return [...journal.rows].flatMap(([key, versions]) => {
    if (!key.startsWith("enrolment-claim:")) return [];
    const row = versions.findLast(({ since }) => since.stamp <= applied.stamp)?.row?.state;
    return row?.["server_uuid"] === actor_id ? [`disabled, but its ${key} still exists`] : [];
  });
}

function bind(node: Node, key: Key): void {
  node.bound_api_key_id = key.id;
  node.pending_credential = key.sealed;
}

function compareRow(node: Node, version: RowVersion, step: StampedTransition, say: Say): void {
  const row = version.row?.state;
  if (row === null || row === undefined) {
    if (node.state !== "absent") say(`after ${step.event} the row is gone`);
    return;
  }
  const seen = row as Reply;
  for (const [column, value] of Object.entries(node)) {
    if (seen[column] !== value) say(`after ${step.event} ${column} is ${seen[column]}, not ${value}`);
  }
}

/**
 * Checks that the answer shows the state that this message wrote. If it shows a role and a key, they must be the
 * node's.
 */
function compareReply(node: Node, { message, out, reply, command }: Operation, say: Say): void {
  if (out !== "ok" || message.type === "remove") return;
  const answer = reply as Reply | null;
  const same = answer?.["state"] === node.state &&
    (answer["role"] === undefined || answer["role"] === node.role) &&
    (answer["bound_api_key_id"] === undefined || answer["bound_api_key_id"] === node.bound_api_key_id);
  if (!same) say(`${message.type} (command ${command}) was answered with ${JSON.stringify(answer)}`);
}
