// Migrates an instance. The target prepares an empty copy, the source fills it, and the last commit records the target
// as the instance's node. Until that commit every failure is undone: the source continues to run the machine, and the
// target discards its copy. The last commit also sends two jobs that the operation does not wait for: the target starts
// the machine, and the source removes its own copy (docs/reliability.md, "Migration of instances").
import { NODE_WAIT_MS } from "../../src/contract/limits.ts";
import { withNewActor } from "../engine/effects.ts";
import { job, saga, type StepPart, write } from "../engine/saga.ts";
import { INSTANCE_MIGRATE, type InstanceMigrateParams } from "../instance/operation.ts";
import { toInstance } from "./instance-parts.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";

type Context = {
  readonly params: InstanceMigrateParams;
  readonly saga_id: string;
  readonly id: (label: string) => string;
};
type Order = { readonly kind: string; readonly target_cn: string };

function payloadOf({ params: { instance_id, live }, saga_id }: Omit<Context, "id">) {
  return { instance_id, migration_id: saga_id, live };
}

/** Sends a job that the operation does not wait for. */
function sent(c: Context, { kind, target_cn }: Order): StepPart {
  const id = c.id(kind);
  return withNewActor({ kind: "job", id }, {
    type: "enqueue",
    id,
    kind,
    target_cn,
    payload: payloadOf(c),
    saga_id: c.saga_id,
  });
}

/** The target's report about its listener. The source needs this report to reach and to recognize the target. */
type Listener = { readonly address: string; readonly port: number; readonly certificate: string };

/** The first step commits with the instance's own message (instance/migration.ts). */
export const instanceMigrate = saga<InstanceMigrateParams>(INSTANCE_MIGRATE.saga)
  .step(INSTANCE_MIGRATE.begun, {
    do: ({ params: { source_cn, target_cn } }) => write({ source_cn, target_cn }),
    undo: (c) => {
      const { saga_id: operation_id, params: { target_cn } } = c;
      const reason = c.error ?? "the operation was undone";
      return write(null, toInstance(c, { type: "migration_failed", operation_id, target_cn, reason }));
    },
  })
  .step("receive", {
    kind: "job",
    follows: true,
    do: (c) => {
      const { target_cn, limit_ms } = c.params;
      return job<Listener | null>({ kind: "migrate_receive", target_cn, payload: payloadOf(c), limit_ms });
    },
    // The undo does not wait for the target, which may be gone: the machine on the source needs nothing from the
    // target.
    undo: (c) => write(null, sent(c, { kind: "migrate_discard", target_cn: c.params.target_cn })),
  })
  .step(INSTANCE_MIGRATE.send, {
    kind: "job",
    follows: true,
    do: (c) => {
      const { source_cn, limit_ms, bandwidth_bytes_per_s } = c.params;
      const payload = { ...payloadOf(c), bandwidth_bytes_per_s, listener: c.receive };
      return job<unknown>({ kind: "migrate_send", target_cn: source_cn, payload, limit_ms });
    },
    undo: (c) => {
      const { source_cn } = c.params;
      return job({ kind: "migrate_resume", target_cn: source_cn, payload: payloadOf(c), limit_ms: NODE_WAIT_MS });
    },
  })
  .step("finish", {
    follows: true,
    do: (c) => {
      const { source_cn, target_cn, instance } = c.params;
      const moved = { ...instance, host_cn_uuid: target_cn, updated_at: toRfc3339(c.now) };
      return write(
        { instance: moved },
        toInstance(c, {
          type: "migrated",
          operation_id: c.saga_id,
          target_cn,
          activate_job_id: c.id("migrate_activate"),
        }),
        sent(c, { kind: "migrate_activate", target_cn }),
        sent(c, { kind: "migrate_clean", target_cn: source_cn }),
      );
    },
  });
