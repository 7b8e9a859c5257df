// Defines the names of the disk copies that QEMU makes for snapshots, and ends interrupted copies. A copy is a job in
// QEMU, two block nodes, and a draft file beside the disks. If the agent ends during a copy, QEMU keeps the job and the
// nodes, even after the last block is copied. While it keeps them, QEMU refuses another copy of the same disk. The
// guest may also stay frozen.
import { readdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { closeNodes, dataNames } from "./block-nodes.ts";
import type { VmPlaces } from "./folders.ts";
import { guestAgentAt } from "./guest-agent.ts";
import type { Host } from "./host.ts";
import { type Qmp, QmpError } from "./qmp.ts";
import { removeDrafted } from "./vm-disks.ts";

/** Pause between two queries of a copy in progress. */
export const COPY_CHECK_MS = 200;
/** Time that the guest agent has to show that it exists. */
const PROBE_LIMIT_MS = 3_000;
/**
 * Attempts to thaw a guest after an interrupted copy, and the pause between two attempts. Together they take longer
 * than a freeze may take, because the guest may still freeze when the next agent connects.
 */
const THAW_TRIES_MAX = 6;
const THAW_PAUSE_MS = 1_000;
/**
 * The longest time for the end of one interrupted copy. If the draft's storage does not answer, QEMU cannot end the
 * copy. The VM's next job, such as a stop, must not wait for the storage.
 */
const END_LIMIT_MS = 30_000;
const DRAFT = /disk-([0-9a-f-]{36})\.qcow2\.copy/;

/** A VM's QEMU, the VM's files, and the signal that ends the agent. */
export type CopyPorts = { readonly qmp: Qmp; readonly places: VmPlaces; readonly signal: AbortSignal };

export function copyJob(snapshot_id: string): string {
  return `copy-${snapshot_id}`;
}

/** Returns the path of the unfinished copy. The complete copy gets the path of the snapshot. */
export function copyDraft(places: VmPlaces, snapshot_id: string): string {
  return `${places.disk(snapshot_id)}.copy`;
}

/** Ends the job of an interrupted copy in QEMU, closes its block nodes, and removes its unfinished file. */
export async function endCopy({ qmp, places, signal }: CopyPorts, snapshot_id: string): Promise<void> {
  const id = copyJob(snapshot_id);
  for (;;) {
    const job = (await qmp.execute("query-jobs")).find((each) => each.id === id);
    if (job === undefined) break;
    // After a `job-cancel`, QEMU refuses `job-dismiss` and another `job-cancel` until the job is concluded.
    if (job.status === "concluded") await qmp.execute("job-dismiss", { id });
    else await qmp.execute("job-cancel", { id }).catch(() => {});
    await sleep(COPY_CHECK_MS, undefined, { signal });
  }
  const { node, file_node } = dataNames(snapshot_id);
  await closeNodes(qmp, [node, file_node]);
  await removeDrafted(copyDraft(places, snapshot_id));
}

/**
 * Ends all copies that an earlier agent left in QEMU, and thaws the guest. Stops without an error when the connection
 * closes, and skips a copy that does not end within `limit_ms`. The next connection to the same QEMU ends the copies
 * that are left. The caller must run no copy of the VM at the same time.
 */
export async function endInterruptedCopies(
  qmp: Qmp,
  places: VmPlaces,
  { signal, log }: Pick<Host, "signal" | "log">,
  limit_ms: number = END_LIMIT_MS,
): Promise<void> {
  try {
    // A copy opens its block nodes before it freezes the guest. So if no node is open, no copy has frozen the guest.
    // The file of an open node may already be removed, so the nodes and the files are searched.
    const nodes = await qmp.execute("query-named-block-nodes", { flat: true });
    const open = nodes.flatMap(({ file }) => draftsIn(file ?? ""));
    const files = (await readdir(places.folder)).flatMap(draftsIn);
    if (open.length > 0) await thawLater(places, signal);
    for (const id of new Set([...open, ...files])) {
      try {
        await endCopy({ qmp, places, signal: AbortSignal.any([signal, AbortSignal.timeout(limit_ms)]) }, id);
        log(`ended the interrupted copy of a disk to snapshot ${id}`);
      } catch (error) {
        if (signal.aborted || (error instanceof QmpError && error.kind === "Closed")) throw error;
        log(`cannot end the interrupted copy of a disk to snapshot ${id}: ${(error as Error).message}`);
      }
    }
  } catch (error) {
    if (!signal.aborted && !(error instanceof QmpError && error.kind === "Closed")) throw error;
  }
}

/** Thaws a guest that an interrupted copy may have frozen. Returns whether the guest agent confirmed this in time. */
export async function mayThaw(places: VmPlaces): Promise<boolean> {
  const limits = { call_ms: PROBE_LIMIT_MS, freeze_ms: PROBE_LIMIT_MS };
  return await guestAgentAt(places.socket("qga"), limits).thaw().then(() => true, () => false);
}

async function thawLater(places: VmPlaces, signal: AbortSignal): Promise<void> {
  for (let tries = 1; tries <= THAW_TRIES_MAX; tries += 1) {
    if (await mayThaw(places)) return;
    await sleep(THAW_PAUSE_MS, undefined, { signal });
  }
}

function draftsIn(path: string): readonly string[] {
  const id = DRAFT.exec(path)?.[1];
  return id === undefined ? [] : [id];
}
