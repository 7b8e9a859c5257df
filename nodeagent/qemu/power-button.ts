// Presses the power button of a VM.
import { setTimeout as sleep } from "node:timers/promises";
import { guestAgentAt } from "./guest-agent.ts";
import type { Host } from "./host.ts";
import type { VmMonitor } from "./vm-monitor.ts";

/** Time between two presses of the button. A guest that is still booting misses a press. */
const POWER_BUTTON_MS = 5_000;
const POWER_BUTTON_IGNORED = "the guest ignored the power button and was turned off";

export type PowerButton = {
  readonly host: Pick<Host, "halt_wait_ms" | "signal">;
  /** The socket of the guest agent. */
  readonly guest_agent: string;
};

/** Presses the button until the guest is off or the time limit has passed. Throws an Error if the agent stops. */
export async function pressPowerButton(monitor: VmMonitor, { host, guest_agent }: PowerButton): Promise<void> {
  let is_over = false;
  void monitor.ended.then(() => is_over = true);
  const end_ms = performance.now() + host.halt_wait_ms;
  for (let first = true; !is_over && performance.now() < end_ms; first = false) {
    await monitor.qmp.execute("system_powerdown").catch(() => {});
    // A guest that ignores the button may have a guest agent, which can turn the guest off.
    if (!first) void guestAgentAt(guest_agent).shutdown().catch(() => {});
    const pause_ms = Math.max(0, Math.min(POWER_BUTTON_MS, end_ms - performance.now()));
    await Promise.race([monitor.ended, sleep(pause_ms, undefined, { signal: host.signal })]);
  }
  if (!is_over) monitor.console.note(POWER_BUTTON_IGNORED);
}
