// Holds the agent's connections to a running QEMU: its monitor and its console. Reports once how the run ended.
import { connectQmp, type Qmp } from "./qmp.ts";
import type { QmpEvent, RunState } from "./qmp-messages.ts";
import type { VmPlaces } from "./folders.ts";
import { openVmConsole, type VmConsole } from "./vm-console.ts";

/** How a run ended: the guest is off, its kernel panicked, QEMU cannot continue it, or QEMU is gone. */
export type RunEnd = "off" | "panicked" | "broken" | "gone";

export type VmMonitor = {
  readonly qmp: Qmp;
  readonly console: VmConsole;
  /** QEMU's state when the agent connected. */
  readonly found: RunState;
  /** Resolves when the run ends. Never resolves after `close`. */
  readonly ended: Promise<RunEnd>;
  /** Disconnects; QEMU continues. */
  close(): void;
};

export type MonitorOptions = {
  readonly limit_ms: number;
  /** Returns whether QEMU has ended. Then a further attempt to connect is useless. */
  readonly isGone: () => Promise<boolean>;
  /** Called when a disk operation failed because the node's disk is full, and the guest waits. */
  readonly onNoSpace: () => void;
};

/** Connects to a QEMU that runs or starts. Throws the last error if QEMU does not answer in time. */
export async function monitorVm(
  places: VmPlaces,
  { limit_ms, isGone, onNoSpace }: MonitorOptions,
): Promise<VmMonitor> {
  const qmp = await connectQmp(places.socket("qmp"), { limit_ms, isGone });
  let is_closed = false;
  let end = (_end: RunEnd) => {};
  const ended = new Promise<RunEnd>((resolve) => end = resolve);
  qmp.subscribe((event) => {
    const known = endOfEvent(event);
    if (known !== null) end(known);
    if (event.event === "BLOCK_IO_ERROR" && event.nospace && event.action === "stop") onNoSpace();
  });
  void qmp.closed.then(() => {
    if (!is_closed) end("gone");
  });
  try {
    const { status } = await qmp.execute("query-status");
    const known = endOfState(status);
    if (known !== null) end(known);
    if (status === "io-error") onNoSpace();
    const console = openVmConsole(places.socket("console"));
    const close = () => {
      is_closed = true;
      qmp.close();
      console.close();
    };
    return { qmp, console, found: status, ended, close };
  } catch (error) {
    qmp.close();
    throw error;
  }
}

function endOfEvent(event: QmpEvent): RunEnd | null {
  switch (event.event) {
    case "SHUTDOWN":
      // After `quit` or a signal from this node, QEMU itself ends. The run ends as `gone` when the connection closes.
      return event.reason.startsWith("guest-") ? "off" : null;
    case "GUEST_PANICKED":
      return "panicked";
    case "RESET":
    case "BLOCK_IO_ERROR":
    case "STOP":
    case "RESUME":
      return null;
  }
}

function endOfState(status: RunState): RunEnd | null {
  switch (status) {
    case "shutdown":
      return "off";
    case "guest-panicked":
      return "panicked";
    case "internal-error":
      return "broken";
    default:
      return null;
  }
}
