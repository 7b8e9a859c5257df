// Implements a TFTP transfer as a state machine that gets packets and returns packets. The first packet is not
// repeated, because the client's address may be forged as long as no acknowledgement came. Firmware that lost this
// packet repeats its request. Blocks are repeated after a timeout. They are also repeated if the client acknowledges a
// block before the last block of the window: the blocks after the acknowledged block were lost (RFC 7440). A duplicate
// acknowledgement is ignored: repeating blocks for it would multiply the packets of the transfer (the sorcerer's
// apprentice bug).
import { TFTP_BLOCK_BYTES_MAX, TFTP_TRIES_MAX, TFTP_WINDOW_BLOCKS_MAX } from "../limits.ts";
import { dataPacket, oackPacket } from "./packet.ts";

export type Transfer = {
  /** Returns the first packets. */
  start(): readonly Uint8Array[];
  acknowledged(block: number): readonly Uint8Array[];
  /** Returns the packets to repeat, or null if the transfer ends because the client no longer answers. */
  timedOut(): readonly Uint8Array[] | null;
  isDone(): boolean;
};

const BLOCK_BYTES_DEFAULT = 512;
const BLOCK_BYTES_MIN = 8;
const BLOCK_BYTES_ASKED_MAX = 65_464;
const BLOCK_NUMBERS = 65_536;

export type Agreed = {
  readonly block_bytes: number;
  readonly window_blocks: number;
  readonly timeout_s: number | null;
  readonly answer: ReadonlyMap<string, string>;
};

/** Negotiates the options. Ignores unknown and out-of-range options; they do not end the transfer. */
export function agree(options: ReadonlyMap<string, string>, file_bytes: number): Agreed {
  const answer = new Map<string, string>();
  const block = wholeIn(options.get("blksize"), BLOCK_BYTES_MIN, BLOCK_BYTES_ASKED_MAX);
  const block_bytes = Math.min(block ?? BLOCK_BYTES_DEFAULT, TFTP_BLOCK_BYTES_MAX);
  if (block !== null) answer.set("blksize", String(block_bytes));
  if (wholeIn(options.get("tsize"), 0, Number.MAX_SAFE_INTEGER) !== null) answer.set("tsize", String(file_bytes));
  const timeout_s = wholeIn(options.get("timeout"), 1, 255);
  if (timeout_s !== null) answer.set("timeout", String(timeout_s));
  const window = wholeIn(options.get("windowsize"), 1, 65_535);
  const window_blocks = Math.min(window ?? 1, TFTP_WINDOW_BLOCKS_MAX);
  if (window !== null) answer.set("windowsize", String(window_blocks));
  return { block_bytes, window_blocks, timeout_s, answer };
}

function wholeIn(text: string | undefined, min: number, max: number): number | null {
  if (text === undefined || !/^[0-9]{1,16}$/.test(text)) return null;
  const value = Number(text);
  return value >= min && value <= max ? value : null;
}

export function newTransfer(file: Uint8Array, { block_bytes, window_blocks, answer }: Agreed): Transfer {
  // If the last block is full, an empty block follows it to mark the end.
  const blocks = Math.floor(file.length / block_bytes) + 1;
  let acked = answer.size === 0 ? 0 : -1; // -1: the client has not acknowledged the options yet
  let sent = 0;
  let confirmed = false;
  let tries = 0;

  const block = (number: number) =>
    dataPacket(number % BLOCK_NUMBERS, file.subarray((number - 1) * block_bytes, number * block_bytes));

  function window(): Uint8Array[] {
    const packets: Uint8Array[] = [];
    sent = acked;
    while (sent < blocks && sent < acked + window_blocks) packets.push(block(++sent));
    return packets;
  }

  return {
    start: () => acked === -1 ? [oackPacket(answer)] : window(),
    acknowledged(number) {
      if (acked === -1) {
        if (number !== 0) return [];
        acked = 0;
      } else {
        // Finds the sent block whose number has these low 16 bits.
        const ahead = (number - acked % BLOCK_NUMBERS + BLOCK_NUMBERS) % BLOCK_NUMBERS;
        if (ahead === 0 || acked + ahead > sent) return [];
        acked += ahead;
      }
      confirmed = true;
      tries = 0;
      return acked >= blocks ? [] : window();
    },
    timedOut() {
      tries += 1;
      if (!confirmed) return tries >= TFTP_TRIES_MAX ? null : [];
      return tries >= TFTP_TRIES_MAX || acked >= blocks ? null : window();
    },
    isDone: () => acked >= blocks,
  };
}
