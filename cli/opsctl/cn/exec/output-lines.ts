// Splits output that arrives in pieces into lines. A character that is split between two pieces stays whole.

export type Lines = { take(piece: Uint8Array): void; end(): void };

/**
 * The longest incomplete line to keep. A longer line is split, because output without line breaks must not fill the
 * memory.
 */
const LINE_CHARS_MAX = 65_536;

export function lines(emit: (line: string) => void): Lines {
  const decoder = new TextDecoder();
  let rest = "";
  const take = (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop()!;
    for (const part of parts) emit(part.replace(/\r$/, ""));
    for (; rest.length > LINE_CHARS_MAX; rest = rest.slice(LINE_CHARS_MAX)) emit(rest.slice(0, LINE_CHARS_MAX));
  };
  return {
    take: (piece) => take(decoder.decode(piece, { stream: true })),
    end: () => {
      take(decoder.decode());
      if (rest !== "") emit(rest);
      rest = "";
    },
  };
}
