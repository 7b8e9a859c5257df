// Finds the commit of a given command in the connections of several servers, and kills the server at a given place of
// the commit. The commit is then not yet sent, half sent, applied but not answered, half answered, or just answered.
// The connection is cut after the kill, so the server never notices the cut.
import { Buffer } from "node:buffer";
import { type Cut, CUTS, firstHalf, frameReader, isCommit, LENGTH_BYTES, TYPE } from "../support/commit-cutter.ts";
import type { Passage, Watch } from "../support/network-link.ts";

export type Place = Cut | "after_answer";
export const PLACES: readonly Place[] = [...CUTS, "after_answer"];

/** The command by its actor's kind and its event, and the place in its commit at which the server is killed. */
export type Wanted = { readonly command: string; readonly place: Place };
/** A kill: the commands of the interrupted commit, and the place of the kill in the commit. */
export type Kill = { readonly commands: ReadonlySet<string>; readonly place: Place };

export type CommitKiller = {
  /** Returns a function that watches a new connection of a server. `kill` must end the server before it returns. */
  readonly watch: (kill: () => void) => () => Watch;
  /** Kills the next server that commits the command, and resolves when that happened. */
  killDuring(wanted: Wanted): Promise<Kill>;
  /** Stops looking for commits. */
  rest(): void;
};

/** The maximum time from passing on the answer, or a half of the answer, to the kill. */
const NEXT_MS_MAX = 5;
/**
 * The parameters of one wave of a commit call (src/db/commit-call.ts). `kinds` and `events` are the positions, from 0,
 * of the transitions' kinds and events; `wave` is the number of parameters.
 */
const PARAMETERS = { kinds: 8, events: 12, wave: 22 } as const;
/** Matches the answer of a commit call that did not write all units because of version conflicts. */
const CONFLICTS = /"conflicts": ?\[\d/;

type Order = { readonly wanted: Wanted; readonly settle: (kill_made: Kill) => void };

export function createCommitKiller(): CommitKiller {
  /** The kill to do next, or null. `under_way`: a commit of its command is in flight. */
  let order: Order | null = null;
  let under_way = false;

  function watchConnection(kill: () => void): Watch {
    const sent = frameReader(false);
    const received = frameReader(true);
    /** Whether a transaction is open. A call inside a transaction is not a commit. */
    let in_transaction = false;
    let taken: { readonly order: Order; readonly kill_made: Kill } | null = null;
    /** The frames of the answer, which are held until the answer is complete. */
    let answer: Uint8Array[] = [];

    function toServer(frames: readonly Uint8Array[]): Passage {
      for (const [index, frame] of frames.entries()) {
        if (frame[0] !== TYPE.bind || !isCommit(frame) || in_transaction || order === null || under_way) continue;
        const commands = commandsOf(frame);
        const { command, place } = order.wanted;
        if (!commands.has(command)) continue;
        taken = { order, kill_made: { commands, place } };
        under_way = true;
        if (place !== "before_commit" && place !== "within_commit") continue;
        killNow();
        const half = place === "within_commit" ? [firstHalf(frame)] : [];
        return { pass: Buffer.concat([...frames.slice(0, index), ...half]), cut: true };
      }
      return { pass: Buffer.concat(frames) };
    }

    function toClient(frames: readonly Uint8Array[]): Passage {
      for (const frame of frames) if (frame[0] === TYPE.ready) in_transaction = frame[1 + LENGTH_BYTES] !== IDLE;
      if (taken === null) return { pass: Buffer.concat(frames) };
      answer.push(...frames);
      if (answer.at(-1)?.[0] !== TYPE.ready) return { pass: new Uint8Array() };
      const all = Buffer.concat(answer);
      const written = answer.every((frame) => !isRefusal(frame));
      answer = [];
      return written ? answered(all) : passed(all);
    }

    function killNow(): void {
      if (taken === null || taken.order !== order) return;
      kill();
      order.settle(taken.kill_made);
      order = null;
      taken = null;
    }

    /** Handles the complete answer to a commit that was written. `order` may have changed in the meantime. */
    function answered(all: Buffer): Passage {
      if (taken?.order !== order) return passed(all);
      if (taken?.kill_made.place === "before_answer") {
        killNow();
        return { pass: new Uint8Array(), cut: true };
      }
      const pass = taken?.kill_made.place === "within_answer" ? firstHalf(all) : all;
      setTimeout(killNow, Math.random() * NEXT_MS_MAX);
      return { pass };
    }

    /**
     * Passes on the answer without a kill: the commit was not written, or `order` has changed. An unchanged `order` can
     * be fulfilled by a later commit.
     */
    function passed(all: Buffer): Passage {
      if (taken?.order === order) under_way = false;
      taken = null;
      return { pass: all };
    }

    return (direction, bytes) => direction === "to_server" ? toServer(sent(bytes)) : toClient(received(bytes));
  }

  return {
    watch: (kill) => () => watchConnection(kill),
    killDuring: (wanted) =>
      new Promise((settle) => {
        order = { wanted, settle };
        under_way = false;
      }),
    rest: () => void (order = null),
  };
}

/** The status in a ReadyForQuery frame that means that no transaction is open. */
const IDLE = "I".charCodeAt(0);

function isRefusal(frame: Uint8Array): boolean {
  return frame[0] === TYPE.error || (frame[0] === TYPE.row && CONFLICTS.test(Buffer.from(frame).toString("latin1")));
}

/** Returns the distinct commands of a commit call: the kind and event of each transition. */
function commandsOf(bind: Uint8Array): ReadonlySet<string> {
  const parameters = parametersOf(Buffer.from(bind));
  const commands = new Set<string>();
  for (let wave = 0; wave < parameters.length; wave += PARAMETERS.wave) {
    const events = elementsOf(parameters[wave + PARAMETERS.events]);
    elementsOf(parameters[wave + PARAMETERS.kinds]).forEach((kind, index) => commands.add(`${kind} ${events[index]}`));
  }
  return commands;
}

/**
 * Returns the parameters of a Bind frame. Type, length, two names and the formats precede the parameters. Each
 * parameter begins with its length.
 */
function parametersOf(bind: Buffer): Buffer[] {
  let at = 1 + LENGTH_BYTES;
  for (let names = 0; names < 2; names += 1) at = bind.indexOf(0, at) + 1;
  at += 2 + 2 * bind.readUInt16BE(at);
  const parameters: Buffer[] = [];
  const count = bind.readUInt16BE(at);
  at += 2;
  while (parameters.length < count) {
    const length = Math.max(0, bind.readInt32BE(at));
    at += 4;
    parameters.push(bind.subarray(at, at + length));
    at += length;
  }
  return parameters;
}

/** Returns the elements of a PostgreSQL array literal of plain words. */
function elementsOf(literal: Buffer | undefined): string[] {
  return literal?.toString("latin1").slice(1, -1).split(",").filter((word) => word !== "") ?? [];
}
