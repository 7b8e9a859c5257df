// Defines mutants that simulated histories do not catch. Checks on a real PostgreSQL catch them, with two concurrent
// operations or several equal requests.
import type { DatabaseCheck } from "./database-checks.ts";
import type { Mutant } from "./mutant.ts";

const RESOURCES = "actors/instance/resources.ts";
const IDEMPOTENCY = "src/db/idempotency.ts";

export const DATABASE_MUTANTS: readonly Mutant<DatabaseCheck>[] = [
  {
    name: "guard_not_sent",
    caughtBy: "instance_create and node_reset",
    // The mutant keeps the guards that only create budget rows, because without these rows no node can register.
    edits: [{
      file: "src/db/commit-call.ts",
      find: "conditions.filter(isChecked)) });",
      replace:
        `conditions.filter((each) => isChecked(each) && (each.do !== "guard" || each.name.endsWith("_are_counted")))) });`,
    }],
  },
  {
    name: "room_not_counted",
    caughtBy: "instance_create and instance_create",
    edits: [{ file: RESOURCES, find: `effect("cn_use", { ...room, instances }),`, replace: "" }],
  },
  {
    name: "quota_not_counted",
    caughtBy: "instance_create and node_disable",
    edits: [{ file: RESOURCES, find: `effect("quota_use", { project_id, ...amounts }),`, replace: "" }],
  },
  {
    name: "address_kept",
    caughtBy: "nat_gateway_delete and nat_gateway_create",
    edits: [{
      file: "actors/nat-gateway/transition.ts",
      find: "[release(pool_id ?? publicPool(family), public_address)]",
      replace: "[]",
    }],
  },
  {
    name: "idempotency_key_forgotten",
    caughtBy: "equal keys at once",
    edits: [{
      file: IDEMPOTENCY,
      find: "return { ok: true, msg_id: row.msg_id, repeated: row.msg_id !== new_msg_id };",
      replace: "return { ok: true, msg_id: new_msg_id, repeated: false };",
    }],
  },
  {
    name: "idempotency_body_ignored",
    caughtBy: "one key with two bodies",
    edits: [{ file: IDEMPOTENCY, find: "if (row.body_sha256 !== body_sha256) return", replace: "if (false) return" }],
  },
  {
    name: "repeated_request_forgotten",
    caughtBy: "repeated request",
    edits: [{
      file: IDEMPOTENCY,
      find: "const params = [principal, method, indexable(path), key, body_sha256, SEEN_RETENTION_HOURS];",
      replace: "return null;\n  const params: unknown[] = [];",
    }],
  },
  {
    name: "poll_answers_one",
    caughtBy: "long polls of one key",
    edits: [{
      file: "src/db/long-polls.ts",
      find: "for (const answerOne of waiters.get(key) ?? []) answerOne(answer);",
      replace: "for (const answerOne of waiters.get(key) ?? []) return answerOne(answer);",
    }],
  },
];
