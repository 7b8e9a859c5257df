// The serial console of a running VM. The agent is its only client: it keeps the last output and passes output on.
import { connect, type Socket } from "node:net";
import type { VmConsole as Console } from "../driver.ts";
import { createConsoleRing } from "./console-ring.ts";

export type VmConsole = Console & { close(): void };

/** Output of one VM that the agent reads in a period; more waits in the guest. A flood then costs little. */
const BYTES_PER_PERIOD_MAX = 256 * 2 ** 10;
const PERIOD_MS = 100;

/** Connects to the console. A failure to connect leaves a console without output. */
export function openVmConsole(path: string): VmConsole {
  const ring = createConsoleRing();
  const listeners = new Set<(bytes: Uint8Array) => void>();
  const socket: Socket = connect({ path });
  socket.on("error", () => {}); // The VM ended; its monitor reports that.
  socket.unref();
  let left = BYTES_PER_PERIOD_MAX;
  const period = setInterval(() => {
    left = BYTES_PER_PERIOD_MAX;
    if (socket.isPaused()) socket.resume();
  }, PERIOD_MS);
  period.unref();
  socket.on("close", () => clearInterval(period));
  socket.on("data", (bytes: Uint8Array) => {
    ring.append(bytes);
    for (const listener of [...listeners]) listener(bytes);
    left -= bytes.length;
    if (left <= 0) socket.pause();
  });
  return {
    ring: ring.content,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    write: (bytes) => void (socket.writable && socket.write(bytes)),
    close: () => {
      clearInterval(period);
      socket.destroy();
    },
  };
}
