// What a run says about one vendor, for people and for the JSON summary.

/** An alarm is something that an attacker could have caused; the run's exit code tells of it. */
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
