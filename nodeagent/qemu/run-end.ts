// Describes how the run of a VM ended: the state, and the reason as a tenant reads it.
import type { RunEnd } from "./vm-monitor.ts";
import type { End } from "./vm-record.ts";

/** Returns the end of a run that ended without a job. `ending` describes how QEMU's process ended; null if unknown. */
export function endOfRun(end: RunEnd, ending: string | null): End {
  switch (end) {
    case "off":
      return { state: "stopped", reason: null };
    case "panicked":
      return { state: "failed", reason: "the guest's kernel panicked; see the console's last output" };
    case "broken":
      return {
        state: "failed",
        reason: "the virtual processor stopped: the guest used an operation that the processor does not support",
      };
    case "gone":
      return { state: "failed", reason: goneReason(ending) };
  }
}

/** The end of a VM whose process ended in an unknown way. */
export const VANISHED: End = { state: "failed", reason: "the virtual machine's process ended unexpectedly" };

function goneReason(ending: string | null): string {
  if (ending === null) return VANISHED.reason!;
  if (ending.startsWith("out of memory")) return "the virtual machine's process ran out of memory on its node";
  const signal = /^signal (\w+)/.exec(ending)?.[1];
  return signal === undefined
    ? VANISHED.reason!
    : `the virtual machine's process crashed on its node (signal ${signal})`;
}
