// Stores on disk the setup runs that this booter began. So after a crash, the booter does not repeat a script that
// arrived, and still accepts the machine's reports. The files contain the SHA-256 of the run's token, but not the
// token. They also contain the idempotency key, with which the booter can fetch the same bundle until the machine's
// first report.
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { readOwn, writeDurably } from "../private-file.ts";

export type Run = {
  readonly server_uuid: string;
  readonly idempotency_key: string;
  /** Null until the booter is about to deliver the script. Written before the first byte of the script is sent. */
  readonly delivered: Delivered | null;
};

export type Delivered = {
  readonly epoch: number;
  readonly token_sha256: string;
  /** The machine's IP address. Requests for values and reports are accepted only from this address. */
  readonly address: string;
  readonly mac: string;
  /** The number of times that the script was sent. Missing in a file that an older booter wrote. */
  readonly deliveries?: number;
  /**
   * True if the machine acknowledged the script or fetched the values of the run. Only a script with false is repeated.
   * Missing in a file that an older booter wrote.
   */
  readonly arrived?: boolean;
  readonly reported: boolean;
  /** The reason of a failure that is not yet reported to the control plane. */
  readonly failure: string | null;
};

export type Ledger = {
  of(server_uuid: string): Run | null;
  all(): readonly Run[];
  write(run: Run): Promise<void>;
  /**
   * Replaces a run by `change(run)` and returns the new run. Changes of one run happen one after the other. If there is
   * no such run, or `change` returns null, writes nothing and returns null.
   */
  update(server_uuid: string, change: (run: Run) => Run | null): Promise<Run | null>;
  remove(server_uuid: string): Promise<void>;
};

const NAME = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.json$/;

export async function openLedger(state_dir: string): Promise<Ledger> {
  const folder = join(state_dir, "runs");
  const runs = new Map<string, Run>();
  const names = await readdir(folder).catch(() => [] as string[]);
  for (const name of names.filter((each) => NAME.test(each))) {
    const run = parsed(await readOwn(join(folder, name)));
    if (run !== null) runs.set(run.server_uuid, run);
  }
  const path = (server_uuid: string) => join(folder, `${server_uuid}.json`);
  const last = new Map<string, Promise<unknown>>();
  async function write(run: Run): Promise<void> {
    await writeDurably(path(run.server_uuid), `${JSON.stringify(run)}\n`);
    runs.set(run.server_uuid, run);
  }
  /** Runs `body` after the earlier changes of this run. */
  async function inOrder<T>(server_uuid: string, body: () => Promise<T>): Promise<T> {
    const done = (last.get(server_uuid) ?? Promise.resolve()).then(body, body);
    last.set(server_uuid, done);
    try {
      return await done;
    } finally {
      if (last.get(server_uuid) === done) last.delete(server_uuid);
    }
  }
  return {
    of: (server_uuid) => runs.get(server_uuid) ?? null,
    all: () => [...runs.values()],
    write: (run) => inOrder(run.server_uuid, () => write(run)),
    update: (server_uuid, change) =>
      inOrder(server_uuid, async () => {
        const run = runs.get(server_uuid);
        const changed = run === undefined ? null : change(run);
        if (changed !== null) await write(changed);
        return changed;
      }),
    remove: (server_uuid) =>
      inOrder(server_uuid, async () => {
        runs.delete(server_uuid);
        await rm(path(server_uuid), { force: true });
      }),
  };
}

function parsed(text: string | null): Run | null {
  try {
    const run = JSON.parse(text ?? "") as Run;
    return typeof run.server_uuid === "string" && typeof run.idempotency_key === "string" ? run : null;
  } catch {
    return null;
  }
}
