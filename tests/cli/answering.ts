// A fake control plane that gives every request the same answer, for tests of outputs.
import type { Server } from "./fake-environment.ts";

export const KEY_ID = "11111111-2222-4333-8444-555555555555";

/** Returns a server that sends `body` in every answer. */
export function answering(body: unknown): { server: Server } {
  return { server: () => ({ body }) };
}
