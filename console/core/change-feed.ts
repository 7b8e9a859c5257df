// Follows the changes of the server with one long poll (docs/wire.md, "Long polls").
import { Refusal } from "./client.ts";
import type { Store } from "./store.ts";

/** One answer of the feed. `reset` means that changes are missing: read everything again. */
export type Changes = {
  readonly cursor: string;
  readonly refs: readonly { readonly kind: string; readonly id: string }[];
  readonly reset?: boolean;
};

/** How the page learns about changes. "polling": the server has no feed, or the key has no permission to read it. */
export type Link = "live" | "polling" | "lost" | "paused";

/**
 * The longest time in seconds until the server answers a poll. The server checks the caller's rights at the start of
 * each poll, so this is also the time until a lost right takes effect.
 */
const WAIT_S = 20;
/** The pause between two polls in milliseconds, so that a burst of changes becomes one read. */
export const REST_MS = 200;
/** The longest pause between two polls after failures or resets, in milliseconds. */
const RETRY_MAX_MS = 10_000;
const RETRY_FIRST_MS = 500;
/** The statuses of the answer if the server has no feed, or if the key has no permission to read it. */
const NO_FEED: readonly number[] = [403, 404];
const UNAUTHENTICATED = 401;

type Ports = {
  readonly read: (query: { after?: string; wait?: number }, signal: AbortSignal) => Promise<Changes>;
  readonly changed: Store["changed"];
  readonly pause: (ms: number) => Promise<void>;
  readonly show: (link: Link) => void;
};

/** Follows the feed until the signal aborts, the session ends, or the server answers that the caller has no feed. */
export async function follow({ read, changed, pause, show }: Ports, ended: AbortSignal): Promise<void> {
  let after: string | undefined;
  let failures = 0;
  let resets = 0;
  while (!ended.aborted) {
    try {
      const { cursor, refs, reset } = await read(after === undefined ? {} : { after, wait: WAIT_S }, ended);
      if (ended.aborted) return;
      // Changes before the first answer are not in the feed, and after a failure changes may be missing.
      if (after === undefined || failures > 0 || reset) changed("all");
      else if (refs.length > 0) changed(new Set(refs.map(({ kind }) => kind)));
      failures = 0;
      resets = reset ? resets + 1 : 0;
      after = cursor;
      show("live");
      // If a proxy sends each poll to another process, every answer can be a reset.
      await pause(reset ? retryPause(resets - 1) : REST_MS);
    } catch (error) {
      if (ended.aborted) return;
      if (error instanceof Refusal && NO_FEED.includes(error.status)) return show("polling");
      if (error instanceof Refusal && error.status === UNAUTHENTICATED) return show("paused");
      show("lost");
      await pause(retryPause(failures));
      failures++;
    }
  }
}

function retryPause(earlier: number): number {
  return Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** earlier);
}
