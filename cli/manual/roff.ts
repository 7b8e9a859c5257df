// Escapes text for man(7), so that a formatter prints it literally. A formatter reads a backslash or a quote as an
// instruction and a dot or an apostrophe at the start of a line as a request, and prints a bare hyphen as a dash.
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
/** Printed for an unpaired surrogate. */
const REPLACEMENT = 0xfffd;

/** Escapes text inside a line or a macro's argument. */
export function words(text: string): string {
  return Array.from(plainText(text.replace(/\s+/g, " ").trim()), escaped).join("");
}

/** Escapes a whole line, whose start must not be a request. */
export function line(text: string): string {
  return words(text).replace(/^(?=\.)/, "\\&");
}

export function bold(text: string): string {
  return `\\fB${words(text)}\\fR`;
}

/** Returns `.NAME "argument" ...`; arguments may contain spaces. */
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
