// Simulates the serial consoles of a machine: a boot log, and a guest that echoes what is typed. The command `flood N`
// makes the guest write N bytes.
import { CONSOLE_LOG_BYTES_MAX } from "../../src/contract/limits.ts";
import type { Driver, VmConsole } from "../driver.ts";
import type { SimulatedVm } from "../simulated-vms.ts";
import { createFeed } from "./feed.ts";

const FLOOD = /^flood (\d{1,9})$/;
const FLOOD_PIECE_BYTES = 4_096;
/** The number of characters of a typed line that the guest remembers. */
const LINE_CHARS_MAX = 256;
const PROMPT = "$ ";

/** Returns the function `console` of a driver. A console is created when it is first requested. */
export function simulatedConsoles(vms: () => Readonly<Record<string, SimulatedVm>>): Driver["console"] {
  const consoles = new Map<string, VmConsole>();
  return (id) => {
    const vm = vms()[id];
    if (vm === undefined) {
      consoles.delete(id);
      return undefined;
    }
    const present = consoles.get(id) ?? simulatedConsole(vm.alias);
    consoles.set(id, present);
    return present;
  };
}

function simulatedConsole(name: string): VmConsole {
  const feed = createFeed();
  const listeners = new Set<(bytes: Uint8Array) => void>();
  let line = "";

  function print(text: string): void {
    const bytes = new TextEncoder().encode(text);
    feed.append(bytes);
    for (const listener of listeners) listener(bytes);
  }

  function flood(left: number): void {
    const bytes = Math.min(left, FLOOD_PIECE_BYTES);
    print(bytes < left ? "#".repeat(bytes) : `${"#".repeat(bytes)}\r\n${PROMPT}`);
    // The pause lets the agent do its other work between the pieces.
    if (bytes < left) setTimeout(() => flood(left - bytes), 0);
  }

  function enter(): void {
    const flooded = FLOOD.exec(line)?.[1];
    line = "";
    if (flooded === undefined) print(`\r\n${PROMPT}`);
    else flood(Number(flooded));
  }

  print(`Booting ${name}\r\nSimulated machine, serial console on ttyS0\r\n${name} login: root\r\n${PROMPT}`);
  return {
    ring: () => {
      const kept = new Uint8Array(feed.end() - feed.start());
      for (let at = feed.start(); at < feed.end();) {
        const piece = feed.read(at, CONSOLE_LOG_BYTES_MAX);
        kept.set(piece, at - feed.start());
        at += piece.length;
      }
      return kept;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    write: (bytes) => {
      for (const mark of new TextDecoder().decode(bytes)) {
        if (mark === "\r" || mark === "\n") enter();
        else {
          print(mark);
          line = (line + mark).slice(-LINE_CHARS_MAX);
        }
      }
      return Promise.resolve();
    },
  };
}
