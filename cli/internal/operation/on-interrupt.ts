// Ctrl-C during a wait ends only the command; the operation continues. The note names the command that waits again.
import type { Io } from "../io.ts";

/** Runs `work`. If the user interrupts it, prints `note` on stderr. */
export async function notingInterrupt<T>(io: Pick<Io, "environment" | "note">, note: string, work: () => Promise<T>) {
  try {
    return await work();
  } catch (error) {
    if (io.environment.signal.aborted) io.note(note);
    throw error;
  }
}
