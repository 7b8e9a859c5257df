// Cuts connections to PostgreSQL around commits, at four points in turn: before the commit is sent, within it, before
// its response, and within its response. The first two cuts prevent the commit; the last two lose only its response.
// The cutter reads PostgreSQL's protocol frames: one byte of type, four bytes of length (which include themselves), and
// the content.
import { Buffer } from "node:buffer";
import type { Passage, Watch } from "./network-link.ts";

export const CUTS = ["before_commit", "within_commit", "before_answer", "within_answer"] as const;
export type Cut = (typeof CUTS)[number];

export type CommitCutter = {
  /** Returns the function that inspects a new connection. */
  readonly watch: () => Watch;
  /** From now on, cuts every commit whose number is a multiple of `commits`; 0 cuts no commit. */
  every(commits: number): void;
  /** Calls `act` once, when the next commit arrives and before any of it is forwarded. */
  atNext(act: () => void): void;
  readonly counters: Readonly<Record<Cut | "commits", number>>;
};

/** Types of protocol frames. */
export const TYPE = { parse: 0x50, bind: 0x42, query: 0x51, error: 0x45, row: 0x44, ready: 0x5a } as const;
export const LENGTH_BYTES = 4;
/**
 * For each type of frame, matches the content of a frame that begins a commit. Outside a transaction, a bind frame
 * names the store's prepared statement, or a parse frame has the statement's text. A transaction commits with a query
 * frame.
 */
const COMMITS: Readonly<Record<number, RegExp>> = {
  [TYPE.bind]: /^[^\0]*\0commit_units_1/,
  [TYPE.parse]: /^\0select commit_units_1/,
  [TYPE.query]: /^commit\0/,
};

export function createCommitCutter(): CommitCutter {
  const counters = { commits: 0, before_commit: 0, within_commit: 0, before_answer: 0, within_answer: 0 };
  let nth = 0;
  let next = 0;
  let act: (() => void) | null = null;

  /** Returns how to cut this commit, or null. */
  function nextCut(): Cut | null {
    counters.commits += 1;
    act?.();
    act = null;
    if (nth === 0 || counters.commits % nth !== 0) return null;
    const cut = CUTS[next % CUTS.length] ?? null;
    next += 1;
    return cut;
  }

  function watch(): Watch {
    const sent = frameReader(false);
    const received = frameReader(true);
    let cut: Cut | null = null;
    /** The response to the commit, held until the response is complete or is an error. */
    let answer: Uint8Array[] = [];

    function toServer(frames: readonly Uint8Array[]): Passage {
      for (const [index, frame] of frames.entries()) {
        if (isCommit(frame)) cut = nextCut();
        if (cut === "before_commit") return ended(frames.slice(0, index));
        const is_body = frame[0] === TYPE.bind || frame[0] === TYPE.query;
        if (cut === "within_commit" && is_body) return ended([...frames.slice(0, index), firstHalf(frame)]);
      }
      return { pass: Buffer.concat(frames) };
    }

    function ended(frames: readonly Uint8Array[]): Passage {
      if (cut !== null) counters[cut] += 1;
      return { pass: Buffer.concat(frames), cut: true };
    }

    function toClient(frames: readonly Uint8Array[]): Passage {
      if (cut === null) return { pass: Buffer.concat(frames) };
      answer.push(...frames);
      // If the server refused the statement, nothing was committed. The answer then passes, and no cut is counted.
      const refused = answer.some(([type]) => type === TYPE.error);
      const whole = answer.at(-1)?.[0] === TYPE.ready;
      if (!refused && !whole) return { pass: new Uint8Array() };
      const all = Buffer.concat(answer);
      answer = [];
      if (!refused) return ended(cut === "within_answer" ? [firstHalf(all)] : []);
      cut = null;
      return { pass: all };
    }

    return (direction, bytes) => direction === "to_server" ? toServer(sent(bytes)) : toClient(received(bytes));
  }

  return { watch, every: (commits) => void (nth = commits), atNext: (then) => void (act = then), counters };
}

/** Returns whether a frame begins a commit. */
export function isCommit(frame: Uint8Array): boolean {
  const commit = COMMITS[frame[0] ?? 0];
  return commit?.test(Buffer.from(frame.subarray(1 + LENGTH_BYTES, 200)).toString("latin1")) === true;
}

export function firstHalf(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, Math.ceil(bytes.length / 2));
}

/** Splits a stream into frames. A client's first frame has no type. */
export function frameReader(typed: boolean): (bytes: Uint8Array) => Uint8Array[] {
  let rest = Buffer.alloc(0);
  let type_bytes = typed ? 1 : 0;
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    const frames: Uint8Array[] = [];
    while (rest.length >= type_bytes + LENGTH_BYTES) {
      const length = type_bytes + rest.readUInt32BE(type_bytes);
      if (rest.length < length) break;
      frames.push(rest.subarray(0, length));
      rest = rest.subarray(length);
      type_bytes = 1;
    }
    return frames;
  };
}
