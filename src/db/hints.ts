// Hints say which actors changed, so that whoever waits looks again at once. They are sent after the commit by a
// statement of their own, at most one per 10 ms and process. A hint may be lost, doubled or late and is never the
// truth: everybody who listens also looks from time to time.
import { randomUUID } from "node:crypto";
import { type ActorRef, refKey } from "../../actors/engine/types.ts";
import type { Db } from "./pool.ts";

export const HINT_CHANNEL = "berth";

/** "all": anything may have changed. */
export type Hint = readonly ActorRef[] | "all";

export type Hints = {
  /** Tells this process at once and the others soon. Never throws and never waits. */
  hint(refs: readonly ActorRef[]): void;
  /** Returns the function that ends it. */
  onHint(listener: (hint: Hint) => void): () => void;
  /** For the LISTEN connection: a notification on HINT_CHANNEL. */
  receive(payload: string): void;
  /** For the LISTEN connection: it was down, so hints may have been missed. */
  missed(): void;
  /** Sends what is waiting. */
  close(): Promise<void>;
};

export type HintOptions = {
  readonly db: Db;
  /** Told of failures that nobody waits for. */
  readonly report: (message: string, error: unknown) => void;
};

/** Architecture, section 2. */
const COALESCE_MS = 10;
const PAYLOAD_BYTES_MAX = 7_000;
/** With this many the payload says "all" anyway. */
const WAITING_MAX = PAYLOAD_BYTES_MAX;

/** `by` tells a process its own notifications, which it has heard already. */
type Payload = { readonly by: string; readonly refs: readonly string[] | "all" };

export function createHints({ db, report }: HintOptions): Hints {
  const by = randomUUID().slice(0, 8);
  const listeners = new Set<(hint: Hint) => void>();
  const waiting = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let sending: Promise<void> = Promise.resolve();

  function deliver(hint: Hint): void {
    for (const listener of listeners) {
      try {
        listener(hint);
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
      await db.query("select pg_notify($1, $2)", [HINT_CHANNEL, payload]);
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
      deliver(refs);
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

/** Null for our own. What cannot be read, from another version say, means that anything may have changed. */
function decode(text: string, by: string): Hint | null {
  try {
    const payload = JSON.parse(text) as Payload;
    if (payload.by === by) return null;
    return payload.refs === "all" ? "all" : payload.refs.map(toRef);
  } catch {
    return "all";
  }
}

/** Kinds hold no colon; ids may. */
function toRef(key: string): ActorRef {
  const colon = key.indexOf(":");
  if (colon < 1) throw new TypeError(`${key} names no actor`);
  return { kind: key.slice(0, colon), id: key.slice(colon + 1) };
}
