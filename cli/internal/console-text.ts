// Makes the output of a guest safe to print: its control sequences could move the cursor, rename the window or hide
// text.
/** The position in the output (ECMA-48): outside of control sequences, after ESC, in a CSI sequence, or in a string. */
type Place = "text" | "escape" | "csi" | "string";

/** Returns a function that removes control sequences and control characters. Sequences may span several pieces. */
export function createConsoleText(): (piece: string) => string {
  let place: Place = "text";

  return (piece) => {
    let text = "";
    for (const mark of piece) {
      const code = mark.codePointAt(0)!;
      switch (place) {
        case "text":
          if (mark === "\x1b") place = "escape";
          else if (code === 0x9b) place = "csi";
          else if (mark === "\n" || mark === "\t" || code >= 0x20 && (code < 0x7f || code > 0x9f)) text += mark;
          break;
        case "escape":
          if (mark === "[") place = "csi";
          else if ("]PX^_".includes(mark)) place = "string";
          // Intermediate bytes precede the final byte.
          else if (code < 0x20 || code > 0x2f) place = "text";
          break;
        case "csi":
          if (code >= 0x40 && code <= 0x7e) place = "text";
          break;
        case "string":
          if (mark === "\x07") place = "text";
          else if (mark === "\x1b") place = "escape";
          break;
      }
    }
    return text;
  };
}
