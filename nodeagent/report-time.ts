// Makes the timestamps of a node's reports. Each timestamp is later than the previous timestamp, even after a restart
// of the agent or if the clock was set back. The reason is that the control plane ignores a report that is not later
// than the last report.
import { join } from "node:path";
import { readPrivateFile, writeFileDurably } from "../cli/internal/private-file.ts";

export type ReportTime = {
  /** Returns the time of the next report in RFC 3339: now, but at least 1 ms after the last report. */
  next(): Promise<string>;
};

const FILE = "last-report";

export function createReportTime(state_dir: string, wallMs: () => number): ReportTime {
  const path = join(state_dir, FILE);
  let last_ms: number | undefined;
  let saving = false;

  /**
   * Saves the last time in the background. A crash loses only the last few times. The clock soon passes the lost times.
   */
  async function save(): Promise<void> {
    if (saving) return;
    saving = true;
    let saved_ms: number | undefined;
    while (saved_ms !== last_ms) {
      saved_ms = last_ms;
      await writeFileDurably(path, `${saved_ms}\n`).catch(() => {}); // The next report retries.
    }
    saving = false;
  }

  return {
    async next() {
      // A damaged file is treated like a missing one.
      last_ms ??= Number(await readPrivateFile(path)) || 0;
      last_ms = Math.max(wallMs(), last_ms + 1);
      void save();
      return new Date(last_ms).toISOString();
    },
  };
}
