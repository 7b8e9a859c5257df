// Controls the flow of a console from end to end, separately for each direction. The sender stops while
// CONSOLE_WINDOW_BYTES of its bytes are unconfirmed. Therefore a relay between sender and receiver buffers at most this
// many bytes, with any WebSocket library.
import { CONSOLE_WINDOW_BYTES } from "../../contract/limits.ts";

/** The sender's side. */
export type SendWindow = {
  /** Returns how many bytes may be sent now. */
  room(): number;
  sent(bytes: number): void;
  /** Counts bytes that the receiver confirmed. Returns false if they are more than the unconfirmed bytes. */
  confirmed(bytes: number): boolean;
};

/** Creates the sender's side, which begins without unconfirmed bytes. */
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

/**
 * The receiver confirms when it has read this fraction of the window. So the sender does not stop while the
 * confirmation is on its way.
 */
const CONFIRMED_AT = 1 / 4;

/**
 * Creates the receiver's side: a function that counts the bytes that were read. When the sum reaches a quarter of the
 * window, the function calls `confirm` with the sum and begins a new sum. Until then, the sender can still send three
 * quarters of the window.
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
