// Collects notes about the run of one vendor, for operators and for the JSON summary.

/**
 * A note. An alarm is a finding that an attacker could have caused. A run with an alarm ends with exit code 4 if
 * nothing failed.
 */
export type Note = { readonly level: "warning" | "alarm"; readonly text: string };
export type SignatureMode = "off" | "check" | "require";

export type Notes = {
  warn(text: string): void;
  alarm(text: string): void;
  readonly all: readonly Note[];
};

export function newNotes(): Notes {
  const all: Note[] = [];
  const add = (level: Note["level"], text: string) => {
    if (!all.some((note) => note.text === text)) all.push({ level, text });
  };
  return { all, warn: (text) => add("warning", text), alarm: (text) => add("alarm", text) };
}
