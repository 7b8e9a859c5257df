// Mirrors the disks of a running guest on another node. QEMU copies each disk, and sends each write of the guest to
// both nodes.
import { setTimeout as sleep } from "node:timers/promises";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import { closeNodes, type OpenDisk } from "./block-nodes.ts";
import type { Qmp } from "./qmp.ts";
import type { Job } from "./qmp-messages.ts";

/**
 * Pauses between two queries of the mirrors. The second pause is short, because the guest is paused while the mirrors
 * end.
 */
const CHECK_MS = 50;
const END_CHECK_MS = 1;
const MIRROR = /^mirror[0-9]+$/;

/** The number of copied bytes, and the known total. */
export type Copied = { readonly done: number; readonly all: number };

export type MirrorOptions = {
  readonly disks: readonly OpenDisk[];
  /** The socket of the target's NBD server. */
  readonly path: string;
  readonly bandwidth_bytes_per_s: number;
  readonly signal: AbortSignal;
  readonly onCopied: (copied: Copied) => void;
};

/** Mirrors the disks until both sides are equal. Returns the bytes that were copied. The mirrors then continue. */
export async function mirrorDisks(qmp: Qmp, options: MirrorOptions): Promise<number> {
  const { disks, path, bandwidth_bytes_per_s, signal, onCopied } = options;
  let copying = disks.length;
  const speed = () => Math.max(1, Math.floor(bandwidth_bytes_per_s / copying));
  for (const [index, { node }] of disks.entries()) {
    const target = `mirror${index}`;
    const server = { type: "unix", path };
    // With `unmap`, the empty parts of a disk are neither read nor sent.
    await qmp.execute("blockdev-add", { driver: "nbd", "node-name": target, export: node, server, discard: "unmap" });
    await qmp.execute("blockdev-mirror", {
      "job-id": target,
      device: node,
      target,
      sync: "top",
      "copy-mode": "write-blocking",
      speed: speed(),
      // The job stays until the agent has read its result. If QEMU removed the job itself, a failure of the last writes
      // would be lost.
      "auto-dismiss": false,
    });
  }
  for (;;) {
    const jobs = await mirrors(qmp);
    failIfEnded(jobs, disks.length);
    const copied = {
      done: jobs.reduce((sum, job) => sum + job["current-progress"], 0),
      all: jobs.reduce((sum, job) => sum + job["total-progress"], 0),
    };
    const unequal = jobs.filter(({ status }) => status !== "ready" && status !== "standby");
    if (unequal.length === 0) return copied.all;
    onCopied(copied);
    if (unequal.length < copying) {
      // The copy of a disk is complete, so the remaining disks share its bandwidth.
      copying = unequal.length;
      for (const { id } of unequal) await qmp.execute("block-job-set-speed", { device: id, speed: speed() });
    }
    await sleep(CHECK_MS, undefined, { signal });
  }
}

/** Ends the mirrors of these disks while the guest is paused. At the end, both sides of each disk are equal. */
export async function endMirrors(qmp: Qmp, { disks, signal }: Pick<MirrorOptions, "disks" | "signal">): Promise<void> {
  failIfEnded(await mirrors(qmp), disks.length);
  // Without `force`, the command ends a mirror when both sides are equal. If the last writes fail, the mirror fails.
  for (const { id } of await mirrors(qmp)) await qmp.execute("block-job-cancel", { device: id });
  for (;;) {
    const jobs = await mirrors(qmp);
    const failed = jobs.find(({ error }) => error !== undefined);
    if (failed !== undefined || jobs.length < disks.length) throw notCopied(failed);
    if (jobs.every(({ status }) => status === "concluded")) break;
    await sleep(END_CHECK_MS, undefined, { signal });
  }
  for (const { id } of await mirrors(qmp)) await qmp.execute("job-dismiss", { id });
}

/** Removes the mirrors that a failed attempt left in QEMU. The guest then writes to this node only. */
export async function dropMirrors(qmp: Qmp): Promise<void> {
  for (const { id } of await mirrors(qmp)) {
    // A mirror that has already ended refuses the command.
    await qmp.execute("block-job-cancel", { device: id, force: true }).catch(() => {});
  }
  for (;;) {
    const jobs = await mirrors(qmp);
    if (jobs.length === 0) break;
    for (const { id, status } of jobs) if (status === "concluded") await qmp.execute("job-dismiss", { id });
    await sleep(CHECK_MS);
  }
  const nodes = await qmp.execute("query-named-block-nodes", { flat: true });
  await closeNodes(qmp, nodes.map((each) => each["node-name"] ?? "").filter((name) => MIRROR.test(name)));
}

async function mirrors(qmp: Qmp): Promise<readonly Job[]> {
  return (await qmp.execute("query-jobs")).filter(({ id }) => MIRROR.test(id));
}

/** Throws a Failure if a mirror has ended. */
function failIfEnded(jobs: readonly Job[], wanted: number): void {
  const ended = jobs.find(({ status }) => status === "concluded" || status === "aborting");
  if (ended !== undefined || jobs.length < wanted) throw notCopied(ended);
}

function notCopied(job: Job | undefined): Failure {
  return new Failure(`a disk could not be copied to the target${job?.error ? `: ${job.error}` : ""}`, EXIT.failure);
}
