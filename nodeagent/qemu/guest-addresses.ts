// Collects the addresses that guests report through their guest agents. Tenants and operators see these addresses. A
// guest may report anything, so no decision uses the addresses.
import type { GuestInterface } from "../../src/contract/instance.ts";
import type { GuestAgent } from "./guest-agent.ts";

export type GuestAddresses = {
  /** Asks the guests in the background. A guest that did not answer is asked less often. */
  refresh(running: readonly string[]): void;
  /** Returns the last answer; null if the last attempt got no answer, or the guest does not run. */
  of(id: string): readonly GuestInterface[] | null;
};

/**
 * The shortest and the longest pause after a guest did not answer. The first pause is short, because the guest may
 * still be booting. Each further pause is twice as long, because most guests that do not answer have no guest agent.
 */
const RETRY_MS_MIN = 15_000;
const RETRY_MS_MAX = 5 * 60_000;

export type GuestAddressesOptions = {
  readonly agentOf: (id: string) => Pick<GuestAgent, "interfaces">;
  readonly monotonicMs: () => number;
};

export function createGuestAddresses({ agentOf, monotonicMs }: GuestAddressesOptions): GuestAddresses {
  const known = new Map<string, readonly GuestInterface[]>();
  const silent = new Map<string, { readonly until_ms: number; readonly pause_ms: number }>();
  const asking = new Set<string>();

  async function ask(id: string): Promise<void> {
    asking.add(id);
    try {
      known.set(id, await agentOf(id).interfaces());
      silent.delete(id);
    } catch {
      known.delete(id);
      const pause_ms = Math.min(RETRY_MS_MAX, 2 * (silent.get(id)?.pause_ms ?? RETRY_MS_MIN / 2));
      silent.set(id, { until_ms: monotonicMs() + pause_ms, pause_ms });
    } finally {
      asking.delete(id);
    }
  }

  return {
    refresh: (running) => {
      for (const id of known.keys()) if (!running.includes(id)) known.delete(id);
      for (const id of silent.keys()) if (!running.includes(id)) silent.delete(id);
      for (const id of running) {
        if (!asking.has(id) && monotonicMs() >= (silent.get(id)?.until_ms ?? -Infinity)) void ask(id);
      }
    },
    of: (id) => known.get(id) ?? null,
  };
}
