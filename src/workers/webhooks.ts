// Sends the deliveries of webhooks. Every process does this. A process claims a webhook, sends its deliveries, oldest
// first, and records each attempt. If the process dies before it records an attempt, its claim expires and another
// process sends the delivery again. Therefore a receiver may get an event more than once (docs/webhooks.md).
import type { Ports } from "../../actors/engine/ports.ts";
import { WEBHOOK_PAUSE_S_FIRST, WEBHOOK_PAUSE_S_MAX, WEBHOOKS_AT_ONCE } from "../contract/limits.ts";
import { createLoop } from "./loop.ts";

/** The fields of a claimed webhook and of its oldest waiting delivery that this file uses. */
type Claimed = {
  readonly claim: string;
  readonly tenant_id: string;
  /** The number of earlier attempts. */
  readonly attempts: number;
};

/** The outcome of an attempt. `reason` is null after a success. */
export type Sent = { readonly status: number | null; readonly reason: string | null };

export type AttemptEnd = Sent & {
  /** The pause before the next attempt, if this attempt failed. */
  readonly pause_s: number;
  /** Whether this process keeps its claim, to send the next delivery of the webhook. */
  readonly continues: boolean;
};

export type WebhooksOptions<Attempt extends Claimed> = {
  /** Creates deliveries for new events. Returns whether there may be more new events. */
  readonly follow: () => Promise<boolean>;
  readonly take: (rows_max: number, busy: readonly string[]) => Promise<readonly Attempt[]>;
  readonly send: (attempt: Attempt) => Promise<Sent>;
  readonly record: (attempt: Attempt, end: AttemptEnd) => Promise<Attempt | null>;
  /** Returns a number from 0 to 1, for the pauses. */
  readonly random: () => number;
  readonly ports: Pick<Ports, "report">;
};

/** The pause between two passes. An event usually waits no longer than this before it is sent. */
const EVERY_MS = 1_000;
/**
 * The maximum number of deliveries that a process sends during one claim of a webhook, so that other webhooks also get
 * a turn.
 */
const IN_A_ROW = 100;

export function createWebhooks<Attempt extends Claimed>(
  { follow, take, send, record, random, ports }: WebhooksOptions<Attempt>,
) {
  const active = new Map<string, { readonly tenant_id: string; readonly done: Promise<void> }>();
  let stopping = false;

  /**
   * Begins to send the deliveries that are due. Does not wait until they are sent, because a slow receiver must not
   * delay other receivers.
   */
  async function begin(): Promise<void> {
    try {
      while (!stopping && await follow());
      const free = WEBHOOKS_AT_ONCE - active.size;
      if (free <= 0 || stopping) return;
      const busy = [...active.values()].map(({ tenant_id }) => tenant_id);
      for (const attempt of await take(free, busy)) {
        const done = sendAll(attempt).finally(() => active.delete(attempt.claim));
        active.set(attempt.claim, { tenant_id: attempt.tenant_id, done });
      }
    } catch (error) {
      ports.report("background work failed: webhooks", error);
    }
  }

  async function sendAll(first: Attempt): Promise<void> {
    try {
      let next: Attempt | null = first;
      for (let sent = 1; next !== null; sent++) {
        const attempt: Attempt = next;
        const end = await send(attempt);
        next = await record(attempt, {
          ...end,
          pause_s: pauseAfter(attempt.attempts, random()),
          continues: sent < IN_A_ROW && !stopping,
        });
      }
    } catch (error) {
      // The claim expires, and the delivery is then repeated.
      ports.report("background work failed: webhooks", error);
    }
  }

  const ended = () => Promise.all([...active.values()].map(({ done }) => done));
  const loop = createLoop(begin, EVERY_MS);
  return {
    start: loop.start,
    /** Sends the deliveries that are due, and waits until they are sent. For hosts that stop idle processes. */
    pass: async () => {
      await begin();
      await ended();
    },
    stop: async () => {
      stopping = true;
      await loop.stop();
      await ended();
    },
  };
}

/**
 * Returns the pause before the next attempt in seconds. The longest possible pause doubles with each attempt, up to
 * WEBHOOK_PAUSE_S_MAX. The pause is random, from half of the longest pause to the longest pause.
 * @param attempts the number of earlier attempts
 * @param chance a random number from 0 to 1
 */
export function pauseAfter(attempts: number, chance: number): number {
  const whole = Math.min(WEBHOOK_PAUSE_S_FIRST * 2 ** Math.min(attempts, 30), WEBHOOK_PAUSE_S_MAX);
  return whole * (1 + chance) / 2;
}
