// Keeps the journal of claimed jobs. Normally a job is on disk before its work starts. So after a crash the agent
// continues its jobs and reports their results, and the server does not send them again. If the disk is full, the
// journal continues in memory, and each change tries to write the file again. Until a write succeeds, the agent starts
// only jobs that remove something, and after a crash the file may still name a job that has ended.
import { join } from "node:path";
import type { Job, JobEndBody } from "../src/contract/job.ts";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import { readPrivateFile, writeFileDurably } from "../cli/internal/private-file.ts";
import { isDiskFull } from "./full-disk.ts";

/** A claimed job. `end` is its result until the server has it; null while the job runs. */
export type Entry = { readonly job: Job; readonly end: JobEndBody | null };

export type Journal = {
  entries(): readonly Entry[];
  get(job_id: string): Entry | undefined;
  put(entry: Entry): Promise<void>;
  drop(job_id: string): Promise<void>;
  /** Writes the journal again, if the disk was full at the last attempt. */
  retry(): Promise<void>;
  /** Returns whether the job is on disk. */
  isSaved(job_id: string): boolean;
  /** Returns whether the job was on disk when the agent started. */
  isFromBefore(job_id: string): boolean;
};

/** Opens the journal. Throws a Failure if the file is damaged: then only the server knows this node's jobs. */
export async function openJournal(state_dir: string, log: (line: string) => void): Promise<Journal> {
  const path = join(state_dir, "jobs.json");
  const entries = new Map((await readEntries(path)).map((entry) => [entry.job.id, entry]));
  const before: ReadonlySet<string> = new Set(entries.keys());
  let on_disk = before;
  let is_full = false;
  let written: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    const ids = new Set(entries.keys());
    try {
      await writeFileDurably(path, `${JSON.stringify([...entries.values()], null, 2)}\n`);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      if (!is_full) {
        log(
          `${path} could not be written, because the disk is full; until the disk has room, only jobs that remove something start`,
        );
      }
      is_full = true;
      return;
    }
    if (is_full) log(`${path}: the disk has room again`);
    is_full = false;
    on_disk = ids;
  }

  /** Saves the entries. Writes run one at a time. Each writes the entries that exist when it starts. */
  function save(): Promise<void> {
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
    retry: async () => {
      if (is_full) await save();
    },
    isSaved: (job_id) => on_disk.has(job_id),
    isFromBefore: (job_id) => before.has(job_id),
  };
}

async function readEntries(path: string): Promise<readonly Entry[]> {
  const text = await readPrivateFile(path);
  if (text === null) return [];
  try {
    const saved: unknown = JSON.parse(text);
    if (Array.isArray(saved) && saved.every((entry) => typeof entry?.job?.id === "string")) return saved;
  } catch {
    // The Failure below reports it.
  }
  throw new Failure(
    `${path} is damaged; remove it and restart the agent: the control plane sends its jobs again`,
    EXIT.failure,
  );
}
