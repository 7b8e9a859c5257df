// Holds the processes of a run. When a process dies, its slot stays empty for a while; then another process takes the
// slot.
import { createProcess, type Process } from "./process.ts";
import type { Environment } from "./environment.ts";

export type Cluster = ReturnType<typeof createCluster>;

export function createCluster(environment: Environment) {
  let runs = 0;
  const places: (Process | null)[] = [];
  for (let index = 0; index < environment.plan.processes; index += 1) start(index);

  function start(index: number): void {
    places[index] = createProcess(environment, { index, run: runs++ }, kill);
  }

  function kill(process: Process, down_ms: number): void {
    if (!process.alive) return;
    places[process.index] = null;
    process.die();
    environment.journal.note(`died ${process.run}`);
    environment.scheduler.after(environment.quiet ? 0 : down_ms, () => {
      start(process.index);
      environment.counters.process_replaced += 1;
    });
  }

  /**
   * Returns the process in this slot. If the slot is empty, returns the next process, or null if all processes are
   * down.
   */
  function at(index: number): Process | null {
    for (let step = 0; step < places.length; step += 1) {
      const process = places[(index + step) % places.length];
      if (process !== null && process !== undefined) return process;
    }
    return null;
  }

  return { at, kill, living: () => places.filter((each) => each !== null) };
}
