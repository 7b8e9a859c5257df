// Waits until QEMU's migration of a VM has reached a status.
import { setTimeout as sleep } from "node:timers/promises";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import type { Qmp } from "./qmp.ts";
import type { MigrationInfo } from "./qmp-messages.ts";

/** Pause between two queries of a migration. It is short, because the guest may be paused meanwhile. */
const CHECK_MS = 10;
/** Time for the devices' state, which is sent after the memory. */
const SWITCH_LIMIT_MS = 60_000;
const OVER: ReadonlySet<string> = new Set(["failed", "cancelled", "cancelling"]);

export type Until = {
  readonly reached: (info: MigrationInfo) => boolean;
  readonly limit_ms: number;
  readonly signal: AbortSignal;
  readonly onLook?: (info: MigrationInfo) => void;
};

/**
 * Waits until `reached` returns true for the migration. Throws a Failure if the migration failed, or after the limit.
 */
export async function untilStatus(qmp: Qmp, { reached, limit_ms, signal, onLook }: Until): Promise<MigrationInfo> {
  const end_ms = performance.now() + limit_ms;
  for (;;) {
    const info = await qmp.execute("query-migrate");
    if (reached(info)) return info;
    if (OVER.has(info.status ?? "")) {
      throw new Failure(`QEMU could not move the memory: ${info["error-desc"] ?? info.status}`, EXIT.failure);
    }
    if (performance.now() > end_ms) {
      throw new Failure(`the memory did not arrive in ${Math.round(limit_ms / 1_000)} s`, EXIT.failure);
    }
    onLook?.(info);
    await sleep(CHECK_MS, undefined, { signal });
  }
}

/** Waits until QEMU has sent or received everything. */
export async function untilMigrated(qmp: Qmp, signal: AbortSignal): Promise<MigrationInfo> {
  return await untilStatus(qmp, {
    reached: ({ status }) => status === "completed",
    limit_ms: SWITCH_LIMIT_MS,
    signal,
  });
}
