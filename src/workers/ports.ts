// Implements the engine's ports with the real clock, timers and randomness.
import { getRandomValues } from "node:crypto";
import type { Ports } from "../../actors/engine/ports.ts";
import { uuid7 } from "../lib/ids/uuid7.ts";

/**
 * Returns the ports of a production process.
 * @param report - Receives failures of work that no caller waits for.
 * @param now_ms - Returns the time for new ids. A server passes the database's time.
 */
export function productionPorts(report: Ports["report"] = () => {}, now_ms: () => number = Date.now): Ports {
  return {
    newId: () => uuid7(now_ms(), getRandomValues(new Uint8Array(10))),
    random: Math.random,
    sleep: (ms) => new Promise((wake) => setTimeout(wake, ms)),
    soon: (task) => void setImmediate(task),
    fault: () => {},
    report,
  };
}
