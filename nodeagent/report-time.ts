// The times that a node's reports bear: each is later than all before it, also when the machine's clock was set back and
// after a restart, since the control plane takes no report for news that is not later than the one it has.
import { join } from "node:path";
import { readPrivateFile, writeFileDurably } from "../cli/internal/private-file.ts";

export type ReportTime = {
  /** RFC 3339: now, or as little after the last one as can be told. */
  next(): Promise<string>;
};

const FILE = "last-report";

export function createReportTime(state_dir: string, wallMs: () => number): ReportTime {
  const path = join(state_dir, FILE);
  let last_ms: number | undefined;
  let saving = false;

  /** Nobody waits for it: what a crash loses is a moment, and a clock that runs is soon past it. */
  async function save(): Promise<void> {
    if (saving) return;
    saving = true;
    let saved_ms: number | undefined;
    while (saved_ms !== last_ms) {
      saved_ms = last_ms;
      await writeFileDurably(path, `${saved_ms}\n`).catch(() => {}); // The next report tries again.
    }
    saving = false;
  }

  return {
    async next() {
      // What is damaged counts as never told.
      last_ms ??= Number(await readPrivateFile(path)) || 0;
      last_ms = Math.max(wallMs(), last_ms + 1);
      void save();
      return new Date(last_ms).toISOString();
    },
  };
}
