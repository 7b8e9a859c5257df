// Keeps the journal of claimed jobs. A job is on disk before its work starts. So after a crash the agent continues its
// jobs and reports their results, and the server does not send them again.
import { join } from "node:path";
import type { Job, JobEndBody } from "../src/contract/job.ts";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import { readPrivateFile, writeFileDurably } from "../cli/internal/private-file.ts";

/** A claimed job. `end` is its result until the server has it; null while the job runs. */
export type Entry = { readonly job: Job; readonly end: JobEndBody | null };

export type Journal = {
  entries(): readonly Entry[];
  get(job_id: string): Entry | undefined;
  put(entry: Entry): Promise<void>;
  drop(job_id: string): Promise<void>;
};

/** Opens the journal. Throws a Failure if the file is damaged: then only the server knows this node's jobs. */
export async function openJournal(state_dir: string): Promise<Journal> {
  const path = join(state_dir, "jobs.json");
  const entries = new Map((await readEntries(path)).map((entry) => [entry.job.id, entry]));
  let written: Promise<void> = Promise.resolve();

  /** Saves the entries. Writes run one at a time, and each contains the entries at its start. */
  function save(): Promise<void> {
    const write = () => writeFileDurably(path, `${JSON.stringify([...entries.values()], null, 2)}\n`);
    return written = written.then(write, write);
  }

  return {
    entries: () => [...entries.values()],
    get: (job_id) => entries.get(job_id),
    put: async (entry) => {
      entries.set(entry.job.id, entry);
      await save();
    },
    drop: async (job_id) => {
      if (entries.delete(job_id)) await save();
    },
  };
}

async function readEntries(path: string): Promise<readonly Entry[]> {
  const text = await readPrivateFile(path);
  if (text === null) return [];
  try {
    const saved: unknown = JSON.parse(text);
    if (Array.isArray(saved) && saved.every((entry) => typeof entry?.job?.id === "string")) return saved;
  } catch {
    // Fails below.
  }
  throw new Failure(
    `${path} is damaged; remove it and restart the agent: the control plane sends its jobs again`,
    EXIT.failure,
  );
}
