// Sends and receives hints. A hint is a notification that names changed actors. Waiting requests then check at once.
// After a commit, each process sends its hints in a separate statement, at most one statement in 10 ms. A hint may be
// lost, duplicated or late, so every listener also checks periodically.
import { randomUUID } from "node:crypto";
import { type ActorRef, refKey } from "../../actors/engine/types.ts";
import type { Db } from "./pool.ts";

export const HINT_CHANNEL = "berth";

/** The actors that changed. "all" means that any actor may have changed. */
export type Hint = readonly ActorRef[] | "all";

export type Hints = {
  /**
   * Notifies the listeners of this process at once and other processes within about 10 ms. Never throws and never
   * waits.
   */
  hint(refs: readonly ActorRef[]): void;
  /** Adds a listener. `own` is true for hints of this process. Returns the function that removes it. */
  onHint(listener: (hint: Hint, own: boolean) => void): () => void;
  /** Called by the LISTEN connection with a notification on HINT_CHANNEL. */
  receive(payload: string): void;
  /** Called by the LISTEN connection when it is back after a failure, because hints may have been missed. */
  missed(): void;
  /** Sends the hints that are queued for other processes. */
  close(): Promise<void>;
};

export type HintOptions = {
  readonly db: Db;
  /** Receives errors of background sends and of listeners. */
  readonly report: (message: string, error: unknown) => void;
};

/** The shortest time between two notifications. More frequent notifications would slow the commits of all processes. */
const COALESCE_MS = 10;
/** PostgreSQL limits the payload of a notification to 8,000 bytes. */
const PAYLOAD_BYTES_MAX = 7_000;
/** The maximum number of refs to queue. The payload of this many refs is always too long, so "all" replaces it. */
const WAITING_MAX = PAYLOAD_BYTES_MAX;

/**
 * `by` identifies the sending process. A process skips its own notifications, because `hint` has delivered them
 * already.
 */
type Payload = { readonly by: string; readonly refs: readonly string[] | "all" };

export function createHints({ db, report }: HintOptions): Hints {
  const by = randomUUID().slice(0, 8);
  const listeners = new Set<(hint: Hint, own: boolean) => void>();
  const waiting = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let sending: Promise<void> = Promise.resolve();

  function deliver(hint: Hint, own = false): void {
    for (const listener of listeners) {
      try {
        listener(hint, own);
      } catch (error) {
        report("a listener to hints failed", error);
      }
    }
  }

  async function send(): Promise<void> {
    if (waiting.size === 0) return;
    const payload = encode(by, waiting);
    waiting.clear();
    try {
      await db.query("select pg_notify($1, $2)", [HINT_CHANNEL, payload], "hint");
    } catch (error) {
      report("hints were not sent", error);
    }
  }

  function sendNext(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    return sending = sending.then(send);
  }

  return {
    hint(refs) {
      if (refs.length === 0) return;
      for (const ref of refs) if (waiting.size < WAITING_MAX) waiting.add(refKey(ref));
      timer ??= setTimeout(() => void sendNext(), COALESCE_MS);
      deliver(refs, true);
    },
    onHint(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    receive(payload) {
      const hint = decode(payload, by);
      if (hint !== null) deliver(hint);
    },
    missed: () => deliver("all"),
    close: sendNext,
  };
}

function encode(by: string, keys: ReadonlySet<string>): string {
  const text = JSON.stringify({ by, refs: [...keys] } satisfies Payload);
  if (new TextEncoder().encode(text).length <= PAYLOAD_BYTES_MAX) return text;
  return JSON.stringify({ by, refs: "all" } satisfies Payload);
}

/** Returns null for our own payload. An unreadable payload, perhaps from another release, counts as "all". */
function decode(text: string, by: string): Hint | null {
  try {
    const payload = JSON.parse(text) as Payload;
    if (payload.by === by) return null;
    return payload.refs === "all" ? "all" : payload.refs.map(toRef);
  } catch {
    return "all";
  }
}

/** Splits at the first colon: a kind contains no colon, but an id may. */
function toRef(key: string): ActorRef {
  const colon = key.indexOf(":");
  if (colon < 1) throw new TypeError(`${key} is not an actor reference KIND:ID`);
  return { kind: key.slice(0, colon), id: key.slice(colon + 1) };
}
