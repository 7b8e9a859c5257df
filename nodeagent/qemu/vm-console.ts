// Reads the serial console of a running VM. The agent is the console's only client: it keeps the last output and passes
// output on to users.
import { connect, type Socket } from "node:net";
import type { VmConsole as Console } from "../driver.ts";
import { CONSOLE_BUFFER_BYTES_MAX } from "../../src/contract/limits.ts";
import { createConsoleRing } from "./console-ring.ts";

export type VmConsole = Console & {
  /** Adds a line of the node to the output, for the tenant. */
  note(line: string): void;
  /** Disconnects. The output stays readable. */
  close(): void;
};

/**
 * Pause before output is read. QEMU sends a flood of output as single bytes. During the pause these bytes gather in the
 * kernel. The guest waits when the kernel's buffer is full.
 */
export const GATHER_MS = 20;
/** The number of unread bytes at which the runtime stops reading from the socket. */
const BUFFER_BYTES = 1;

/** Connects to the console. A failure to connect leaves a console without output. */
export function openVmConsole(path: string): VmConsole {
  const ring = createConsoleRing();
  const listeners = new Set<(bytes: Uint8Array) => void>();
  const options = { path, readableHighWaterMark: BUFFER_BYTES, highWaterMark: BUFFER_BYTES };
  const socket: Socket = connect(options);
  /**
   * One function for each `write` whose bytes are not in the socket yet. A call of the function ends the `write`. The
   * close of the console calls all of them.
   */
  const untaken = new Set<() => void>();
  socket.on("error", () => {}); // The VM ended; its monitor reports that.
  socket.unref();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function keep(bytes: Uint8Array): void {
    ring.append(bytes);
    for (const listener of [...listeners]) listener(bytes);
  }

  function take(): void {
    timer = undefined;
    for (let bytes = socket.read() as Uint8Array | null; bytes !== null; bytes = socket.read()) keep(bytes);
  }

  socket.on("readable", () => {
    timer ??= setTimeout(take, GATHER_MS);
    timer.unref();
  });
  socket.on("close", () => {
    take();
    for (const done of untaken) done();
  });
  return {
    ring: ring.content,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    note: (line) => {
      take();
      keep(new TextEncoder().encode(`\r\n[berth: ${line}]\r\n`));
    },
    write: (bytes) =>
      new Promise((resolve) => {
        const done = () => {
          untaken.delete(done);
          resolve();
        };
        // Like a serial line, the console drops typed bytes while too many earlier bytes wait for a guest that does not
        // read.
        if (!socket.writable || socket.writableLength > CONSOLE_BUFFER_BYTES_MAX) return done();
        untaken.add(done);
        socket.write(bytes, done);
      }),
    close: () => {
      clearTimeout(timer);
      take();
      socket.destroy();
    },
  };
}
