// Escapes text for man(7). In unescaped text, a formatter reads a backslash or a quote inside a word as an instruction,
// and a dot or an apostrophe at the start of a line as a request. It prints an unescaped hyphen as a dash, which shells
// do not understand.
import { plainText } from "../internal/plain-text.ts";

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\e",
  "-": "\\-",
  "'": "\\(aq",
  '"': "\\(dq",
  "`": "\\(ga",
  "^": "\\(ha",
  "~": "\\(ti",
};
/** Replaces an unpaired surrogate. */
const REPLACEMENT = 0xfffd;

/** Escapes text within a line or in the argument of a macro. */
export function words(text: string): string {
  return Array.from(plainText(text.replace(/\s+/g, " ").trim()), escaped).join("");
}

/** Escapes a line of text, so that its start is not a request. */
export function line(text: string): string {
  return words(text).replace(/^(?=\.)/, "\\&");
}

export function bold(text: string): string {
  return `\\fB${words(text)}\\fR`;
}

/** Returns the line of a macro: `.NAME "argument" ...`. Arguments may contain spaces. */
export function macro(name: string, ...args: readonly string[]): string {
  return [`.${name}`, ...args.map((each) => `"${words(each)}"`)].join(" ");
}

function escaped(mark: string): string {
  const known = ESCAPES[mark];
  if (known !== undefined) return known;
  const code = mark.codePointAt(0)!;
  if (code < 0x80) return mark;
  const shown = code >= 0xd800 && code <= 0xdfff ? REPLACEMENT : code;
  return `\\[u${shown.toString(16).toUpperCase().padStart(4, "0")}]`;
}
