// Escapes untrusted text for the terminal: it may come from a tenant or from hardware. Control bytes could move the
// cursor or change colours; direction marks could disguise a name.

// deno-lint-ignore no-control-regex -- this pattern must match control bytes
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Returns one line of text that is safe to print. */
export function plainText(text: string): string {
  return text.replace(UNSAFE, (mark) => SHORT[mark] ?? hexEscape(mark));
}

/** Returns JSON with every unsafe character escaped; it parses to the same value. */
export function plainJson(value: unknown): string {
  const text = JSON.stringify(value ?? null, null, 2);
  return text.split("\n").map((line) => line.replace(UNSAFE, (mark) => unicodeEscape(mark))).join("\n");
}

function hexEscape(mark: string): string {
  const code = mark.charCodeAt(0);
  return code > 0xff ? unicodeEscape(mark) : `\\x${code.toString(16).padStart(2, "0")}`;
}

function unicodeEscape(mark: string): string {
  return `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
