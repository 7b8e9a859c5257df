// Keeps references to the objects that changed recently, from the hints (hints.ts) that this process receives. After a
// change, a web console reads the changed objects that it shows. Because a hint may be lost, a web console also reads,
// from time to time, all objects that it shows. An answer has `reset` if the cursor is too old or from another process,
// or if a hint named no objects. Then the web console must read everything again. This file does not query the
// database.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { ActorRef } from "../../actors/engine/types.ts";
import type { Hints } from "./hints.ts";

export type ChangesSince = {
  readonly cursor: string;
  readonly refs: readonly ActorRef[];
  /** Whether changes are missing, so that the caller must read everything again. */
  readonly reset: boolean;
};

export type ChangesWait = {
  readonly hold_ms: number;
  /** Ends the wait early. */
  readonly signal: AbortSignal;
  /** Returns the changes that the caller may see; null if the caller lost its rights, which ends the wait. */
  readonly visible: (refs: readonly ActorRef[]) => Promise<readonly ActorRef[] | null>;
};

export type Changes = {
  /**
   * Returns the visible changes after the cursor. Waits for a change, at most `hold_ms`. Without a cursor, returns the
   * newest cursor at once. Returns "full" when too many requests wait.
   */
  wait(after: string | undefined, wait: ChangesWait): Promise<ChangesSince | "full">;
  held(): number;
  /** Ends every wait. A wait that begins later ends at once. */
  close(): void;
};

/**
 * The maximum number of changes that are kept, about 100 bytes each. A caller whose cursor is older than these changes
 * must read everything again.
 */
const KEPT_MAX = 4_096;
/** Changes that arrive within this time are answered together. */
const GATHER_MS = 50;

export function createChanges(hints: Pick<Hints, "onHint">, { held_max }: { readonly held_max: number }): Changes {
  const cursors = createCursors();
  const kept: ActorRef[] = [];
  const waiters = new Set<() => void>();
  /** The number of changes so far. */
  let count = 0;
  /** The number of changes at the last hint that named no objects. */
  let unknown_at = 0;
  let gathering: ReturnType<typeof setTimeout> | undefined;
  let closed = false;

  hints.onHint((hint) => {
    if (hint === "all") {
      unknown_at = ++count;
      kept.length = 0;
    } else {
      for (const { kind, id } of hint) kept.push({ kind, id });
      count += hint.length;
      if (kept.length > KEPT_MAX) kept.splice(0, kept.length - KEPT_MAX);
    }
    gathering ??= setTimeout(() => {
      gathering = undefined;
      for (const wake of waiters) wake();
    }, GATHER_MS);
  });

  /**
   * Returns the changes after a position, each object once; null if some of these changes are unknown or no longer
   * kept.
   */
  function since(from: number): ActorRef[] | null {
    if (from < unknown_at || from > count || count - from > kept.length) return null;
    const refs = kept.slice(kept.length - (count - from));
    return [...new Map(refs.map((ref) => [`${ref.kind}:${ref.id}`, ref])).values()];
  }

  function nextChange(hold_ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(limit);
        waiters.delete(end);
        signal.removeEventListener("abort", end);
        resolve();
      };
      const limit = setTimeout(end, hold_ms);
      signal.addEventListener("abort", end);
      waiters.add(end);
    });
  }

  async function wait(after: string | undefined, { hold_ms, signal, visible }: ChangesWait) {
    if (after === undefined) return { cursor: cursors.textOf(count), refs: [], reset: false };
    const ends_at = performance.now() + hold_ms;
    let from = cursors.positionOf(after);
    for (;;) {
      const to = count;
      const refs = from === null ? null : since(from);
      if (refs === null) return { cursor: cursors.textOf(to), refs: [], reset: true };
      const seen = refs.length === 0 ? refs : await visible(refs);
      if (seen === null) return { cursor: cursors.textOf(to), refs: [], reset: false };
      const rest_ms = ends_at - performance.now();
      if (seen.length > 0 || rest_ms <= 0 || signal.aborted || closed) {
        return { cursor: cursors.textOf(to), refs: seen, reset: false };
      }
      from = to;
      if (count > to) continue;
      if (waiters.size >= held_max) return "full";
      await nextChange(rest_ms, signal);
    }
  }

  return {
    wait,
    held: () => waiters.size,
    close: () => {
      closed = true;
      clearTimeout(gathering);
      for (const wake of waiters) wake();
    },
  };
}

const BLOCK_BYTES = 16;
const MARK = "berth";

/**
 * Converts positions to opaque texts, which are valid in one process. The positions are encrypted, because the count of
 * changes would show a tenant how busy the site is.
 */
function createCursors() {
  const key = randomBytes(BLOCK_BYTES);

  function textOf(position: number): string {
    const block = Buffer.alloc(BLOCK_BYTES);
    block.write(MARK);
    block.writeBigUInt64BE(BigInt(position), BLOCK_BYTES / 2);
    // Encrypts one block with a key of this process. This mode (ECB) reveals repeated blocks, but a text has only one
    // block.
    return createCipheriv("aes-128-ecb", key, null).setAutoPadding(false).update(block).toString("base64url");
  }

  /** Returns null for the cursor of another process and for any other text. */
  function positionOf(text: string): number | null {
    const sealed = Buffer.from(text, "base64url");
    if (sealed.length !== BLOCK_BYTES) return null;
    const block = createDecipheriv("aes-128-ecb", key, null).setAutoPadding(false).update(sealed);
    const isOurs = block.subarray(0, MARK.length).toString("latin1") === MARK;
    return isOurs ? Number(block.readBigUInt64BE(BLOCK_BYTES / 2)) : null;
  }

  return { textOf, positionOf };
}
