// Defines mutants of the engine, of the background worker and of the simulated database. Simulated histories catch
// them.
import type { Invariant } from "../../simulator/violation.ts";
import type { Mutant } from "./mutant.ts";

const DRAFT = "actors/engine/draft.ts";
const ANSWERS = "actors/engine/answers.ts";
const ENGINE = "actors/engine/engine.ts";
const FOLD = "actors/engine/fold.ts";
const WORKER = "src/workers/background-worker.ts";
const MEMORY_ROWS = "tests/support/memory-rows.ts";
const MEMORY_STORE = "tests/support/memory-store.ts";

const ANSWER_BEFORE_COMMIT = `
      for (const item of items) {
        for (const reply of item.unit.choices[0]?.replies ?? []) {
          item.box.queue.find((each) => each.envelope.id === reply.msg_id)?.settle(
            "ok" in reply.reply ? { ok: true, reply: reply.reply.ok } : { ok: false, fault: reply.reply.fault },
          );
        }
      }`;

const REFUSE_ALL = `
    for (const box of claimed) {
      for (const each of boxes.remove(box, [...box.queue])) {
        each.settle({ ok: false, fault: fault("conflict", "the commit failed") });
      }
    }`;

export const ENGINE_MUTANTS: readonly Mutant<Invariant>[] = [
  {
    name: "answer_before_commit",
    caughtBy: "1 acknowledged means durable",
    edits: [{
      file: ENGINE,
      find: `await ports.fault("before_commit");`,
      replace: `await ports.fault("before_commit");${ANSWER_BEFORE_COMMIT}`,
    }],
  },
  {
    name: "exclusive_answers_early",
    caughtBy: "1 acknowledged means durable",
    edits: [{ file: ENGINE, find: "if (session !== store) return written;", replace: "" }],
  },
  {
    name: "conflict_is_done",
    caughtBy: "1 acknowledged means durable",
    edits: [{
      file: ANSWERS,
      find: "for (const waiting of item.messages) waiting.attempts += 1;\n        return;",
      replace: `return settleItem(item, { status: "done", choice: 0, replies: null });`,
    }],
  },
  {
    name: "version_not_compared",
    caughtBy: "6 one writer",
    edits: [{ file: MEMORY_STORE, find: "now.version !== version", replace: "false" }],
  },
  {
    name: "incarnation_not_compared",
    caughtBy: "6 one writer",
    edits: [{ file: MEMORY_STORE, find: "version > 0 && now.incarnation !== incarnation", replace: "false" }],
  },
  {
    name: "incarnation_reused",
    caughtBy: "6 one writer",
    edits: [{
      file: DRAFT,
      find: "const fresh = context.newId();",
      replace: `const fresh = "00000000-0000-0000-0000-000000000000";`,
    }],
  },
  {
    name: "fold_forgets_state",
    caughtBy: "2 legal path",
    edits: [{
      file: FOLD,
      find: "behavior.step(actor.state, envelope",
      replace: "behavior.step(actor.loaded.state, envelope",
    }],
  },
  {
    name: "chain_forgets_state",
    caughtBy: "2 legal path",
    edits: [{
      file: FOLD,
      find: ".set(refKey(input.ref), after.actor)",
      replace: ".set(refKey(input.ref), { ...after.actor, state: actors.get(refKey(input.ref))?.state ?? null })",
    }],
  },
  {
    name: "chain_follows_anybody",
    caughtBy: "2 legal path",
    edits: [{ file: MEMORY_STORE, find: "written_by !== undefined && !writtenHere(written_by)", replace: "false" }],
  },
  {
    name: "chain_foresees_everything",
    caughtBy: "3b justified answer",
    edits: [{
      file: FOLD,
      find: "return out.next !== null && out.parts.every((part) => parts.has(part.part) && !joins(part));",
      replace: "return out.next !== null && parts.size > 0;",
    }],
  },
  {
    name: "alternatives_forgotten",
    caughtBy: "3b justified answer",
    edits: [{ file: MEMORY_STORE, find: `if (unit.partial === true) return { status: "conflict" };`, replace: "" }],
  },
  {
    name: "decided_by_an_old_clock",
    caughtBy: "2 legal path",
    edits: [{ file: ENGINE, find: "Math.min(messages_max, box.queue.length)", replace: "messages_max" }],
  },
  {
    name: "reply_of_another",
    caughtBy: "2 legal path",
    edits: [{
      file: ANSWERS,
      find: "const stored = replies.get(waiting.envelope.id);\n          if (stored === undefined)",
      replace: "const stored = replies.values().next().value;\n          if (stored === undefined)",
    }],
  },
  {
    name: "unknown_is_refusal",
    caughtBy: "3 refused means untouched",
    edits: [{ file: ENGINE, find: "let tries = 1;", replace: `let tries = 1;${REFUSE_ALL}` }],
  },
  {
    name: "refusal_not_stored",
    caughtBy: "3 refused means untouched",
    edits: [{
      file: MEMORY_ROWS,
      find: "if (tables.seen.has(msg_id))",
      replace: `if ("fault" in reply) return;\n    if (tables.seen.has(msg_id))`,
    }],
  },
  {
    name: "refusal_unchecked",
    caughtBy: "3b justified answer",
    edits: [{
      file: FOLD,
      find: "actors: [...actors.values()],",
      replace: "actors: choices.every(({ transitions }) => transitions.length === 0) ? [] : [...actors.values()],",
    }],
  },
  {
    name: "new_id_on_retry",
    caughtBy: "4 unknown means at most once",
    edits: [{
      file: ENGINE,
      find: "{ ...waiting.envelope, fresh: false }",
      replace: "{ ...waiting.envelope, id: ports.newId(), fresh: false }",
    }],
  },
  {
    name: "no_lookup",
    caughtBy: "4 unknown means at most once",
    edits: [
      {
        file: FOLD,
        find: "envelopes.filter((envelope) => !envelope.fresh).map((envelope) => envelope.id)",
        replace: "[]",
      },
      { file: MEMORY_ROWS, find: "if (tables.seen.has(msg_id))", replace: "if (false)" },
    ],
  },
  {
    name: "requeue_at_the_back",
    caughtBy: "5 order of time",
    edits: [{
      file: ANSWERS,
      find: "for (const waiting of boxes.remove(item.box, answered)) {",
      replace: `const taken = boxes.remove(item.box, item.messages);
        taken.filter((each) => !answered.includes(each)).forEach((each) => boxes.put(each));
        for (const waiting of taken) {`,
    }],
  },
  {
    name: "companion_refusal_ignored",
    caughtBy: "9 credentials",
    edits: [{ file: DRAFT, find: `if (out.out === "refuse") draft.refused ??= out;`, replace: "" }],
  },
  {
    name: "unjoined_tell_lost",
    caughtBy: "10 operations come to rest",
    edits: [{
      file: DRAFT,
      find: "if (part.joins === true && !context.isRetry && join(draft, part, by, context)) return;",
      replace: "if (part.joins === true && !context.isRetry) return void join(draft, part, by, context);",
    }],
  },
  {
    name: "tell_forgotten",
    caughtBy: "10 operations come to rest",
    edits: [{
      file: WORKER,
      find: "const batch = await store.outbox(limit);",
      replace: "const batch = await store.outbox(limit);\n      await store.delivered(batch.map(({ id }) => id));",
    }],
  },
  {
    name: "tell_deleted_before_delivery",
    caughtBy: "10 operations come to rest",
    edits: [{
      file: WORKER,
      find: "const sent = await Promise.allSettled(tells.map(",
      replace: "await forget(tells.map(({ id }) => id));\n      const sent = await Promise.allSettled(tells.map(",
    }],
  },
  {
    name: "deadline_not_stored",
    caughtBy: "10 operations come to rest",
    edits: [{ file: DRAFT, find: "wake_at: behavior.deadline(state)", replace: "wake_at: null" }],
  },
  {
    name: "guard_not_asked",
    caughtBy: "16 nothing dangles",
    edits: [{
      file: "tests/support/memory-conditions.ts",
      find: `if (each.do === "guard") {`,
      replace: "if (false) {",
    }],
  },
  {
    name: "audit_dropped",
    caughtBy: "17 audit",
    edits: [{
      file: DRAFT,
      find: "audit: note === undefined ? null",
      replace: "audit: note === undefined || draft.working.size > 1 ? null",
    }],
  },
  {
    name: "audit_names_nobody",
    caughtBy: "17 audit",
    edits: [{ file: DRAFT, find: "request_id: by.origin.request_id", replace: "request_id: null" }],
  },
  {
    name: "claims_leak",
    caughtBy: "no bug",
    edits: [{ file: ENGINE, find: "await repeatLater([box], again);", replace: "throw again;" }],
  },
  {
    name: "ended_claims_counted",
    caughtBy: "3b justified answer",
    edits: [{
      file: "tests/simulator/environment.ts",
      find: "return liveClaimsOf(tables, server_uuid, scheduler.now()).length < max;",
      replace: "return claimsOf(tables, server_uuid).length < max;",
    }],
  },
];
