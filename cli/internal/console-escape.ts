// Handles the escape sequences of a raw console, as ssh does. After `~` at the beginning of a line, `.` leaves the
// console, `?` shows help, and `~` types one `~`.
const [TILDE, DOT, QUESTION, RETURN, NEWLINE] = [..."~.?\r\n"].map((mark) => mark.charCodeAt(0));

export type Typed = {
  /** The bytes for the console. */
  readonly bytes: Uint8Array;
  readonly action: "leave" | "help" | null;
};

/**
 * Creates a function that reads typed bytes. The function holds back a `~` at the start of a line until the next byte.
 */
export function createEscape(): (typed: Uint8Array) => Typed {
  let isLineStart = true;
  let isHeld = false;

  return (typed) => {
    const bytes: number[] = [];
    for (const byte of typed) {
      if (isHeld) {
        isHeld = false;
        if (byte === DOT) return { bytes: Uint8Array.from(bytes), action: "leave" };
        if (byte === QUESTION) return { bytes: Uint8Array.from(bytes), action: "help" };
        bytes.push(TILDE!);
        if (byte === TILDE) {
          isLineStart = false;
          continue;
        }
      } else if (isLineStart && byte === TILDE) {
        isHeld = true;
        continue;
      }
      bytes.push(byte);
      isLineStart = byte === RETURN || byte === NEWLINE;
    }
    return { bytes: Uint8Array.from(bytes), action: null };
  };
}
