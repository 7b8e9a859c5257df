// Ctrl-C while a command waits ends only the command. The note names the command that waits again.
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
