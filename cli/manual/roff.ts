// Text for man(7) that a formatter prints as it is, whatever it holds. A backslash or a quote inside a word would be read
// as an instruction, a dot or an apostrophe at the start of a line as a request, and a bare hyphen would be printed as a
// dash that no shell understands.
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
/** What a surrogate without its partner is printed as. */
const REPLACEMENT = 0xfffd;

/** Words within a line or as the argument of a macro. */
export function words(text: string): string {
  return Array.from(plainText(text.replace(/\s+/g, " ").trim()), escaped).join("");
}

/** A line of its own: what it starts with is no request. */
export function line(text: string): string {
  return words(text).replace(/^(?=\.)/, "\\&");
}

export function bold(text: string): string {
  return `\\fB${words(text)}\\fR`;
}

/** `.NAME "argument" ...`; arguments may hold blanks. */
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
