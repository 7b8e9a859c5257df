// What the agent has in hand, on the disk before the work begins: so that after a crash it goes on with it, tells how it
// ended, and is not handed it twice.
import { join } from "node:path";
import type { Job, JobEndBody } from "../src/contract/job.ts";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import { readPrivateFile, writeFileDurably } from "../cli/internal/private-file.ts";

/** `end` is set when the work is over and the server has not taken that yet. */
export type Entry = { readonly job: Job; readonly end: JobEndBody | null };

export type Journal = {
  entries(): readonly Entry[];
  get(job_id: string): Entry | undefined;
  put(entry: Entry): Promise<void>;
  drop(job_id: string): Promise<void>;
};

/** Throws a Failure when the file is damaged: what this node still has to do is then known to the server alone. */
export async function openJournal(state_dir: string): Promise<Journal> {
  const path = join(state_dir, "jobs.json");
  const entries = new Map((await readEntries(path)).map((entry) => [entry.job.id, entry]));
  let written: Promise<void> = Promise.resolve();

  /** One write after another, each with all that is known when it begins. */
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
    // Told below.
  }
  throw new Failure(`${path} is damaged; remove it, and the control plane hands out again what it holds`, EXIT.failure);
}
