// Flow control of a console, per direction, end to end: the sender has at most CONSOLE_WINDOW_BYTES on the way that the
// receiver has not confirmed. Whatever relays in between needs no more memory than that, with any WebSocket library.
import { CONSOLE_WINDOW_BYTES } from "../../contract/limits.ts";

/** The sender's side. */
export type SendWindow = {
  /** Returns how many bytes may be sent now. */
  room(): number;
  sent(bytes: number): void;
  /** Returns false if the receiver confirmed more than was sent. */
  confirmed(bytes: number): boolean;
};

/** Creates the sender's side, with nothing on the way. */
export function createSendWindow(window_bytes: number = CONSOLE_WINDOW_BYTES): SendWindow {
  let unconfirmed = 0;
  return {
    room: () => window_bytes - unconfirmed,
    sent: (bytes) => void (unconfirmed += bytes),
    confirmed: (bytes) => {
      if (bytes > unconfirmed) return false;
      unconfirmed -= bytes;
      return true;
    },
  };
}

/** Fraction of the window after which the receiver confirms, so that a busy sender never waits for it. */
const CONFIRMED_AT = 1 / 4;

/**
 * Creates the receiver's side: returns a function that counts used bytes and calls `confirm` with their sum. Small
 * amounts wait for more, which is harmless, since the sender has room for them.
 */
export function createReceipts(
  confirm: (bytes: number) => void,
  window_bytes: number = CONSOLE_WINDOW_BYTES,
): (bytes: number) => void {
  let pending = 0;
  return (bytes) => {
    pending += bytes;
    if (pending < window_bytes * CONFIRMED_AT) return;
    const sum = pending;
    pending = 0;
    confirm(sum);
  };
}
