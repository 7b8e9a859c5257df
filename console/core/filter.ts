// Filters a list by a search text. Every word of the text must occur in a row. `field:word` searches one field, and a
// `-` in front of a word excludes its matches. Example: `state:failed -role:edge web`.

export type Fields = Readonly<Record<string, string>>;

type Term = { readonly field: string | null; readonly word: string; readonly isExcluded: boolean };

/** Shorter words are not searched in ids, because a UUID contains many words such as `db` by chance. */
const ID_WORD_CHARS_MIN = 8;

/**
 * Returns the function that decides whether to show a row with these fields and this id. A part of the id is found if
 * the part has at least ID_WORD_CHARS_MIN characters.
 */
export function filterOf(text: string): (fields: Fields, id?: string) => boolean {
  const terms = partsOf(text).map(termOf);
  return (fields, id = "") => terms.every((term) => isFound(term, fields, id) !== term.isExcluded);
}

/** The parts of a text; a lone `-` is no part. */
const partsOf = (text: string): string[] => text.trim().split(/\s+/).filter((part) => part !== "" && part !== "-");

/** Whether a server can search for a part: the part has no `-` in front and names none of these fields. */
function isForServer(part: string, fields: readonly string[]): boolean {
  const { field, isExcluded } = termOf(part);
  return !isExcluded && (field === null || !fields.includes(field));
}

/** Returns the words of a text that are not about one of these fields and have no `-`. A server can search for them. */
export function serverWords(text: string, fields: readonly string[]): string {
  return partsOf(text).filter((part) => isForServer(part, fields)).join(" ");
}

/**
 * Splits a text for a server that searches for one word. `word` is the only word of the text that a server can search
 * for. If there is no such word, `word` is empty. If there are several, `word` is also empty, because one of them may
 * be in a column that the server does not search. The page must search its rows for `rest`.
 */
export function serverWord(
  text: string,
  fields: readonly string[],
): { readonly word: string; readonly rest: string } {
  const parts = partsOf(text);
  const [word = "", ...others] = parts.filter((part) => isForServer(part, fields));
  if (word === "" || others.length > 0) return { word: "", rest: parts.join(" ") };
  return { word, rest: parts.filter((part) => part !== word).join(" ") };
}

function termOf(part: string): Term {
  const isExcluded = part.startsWith("-");
  const bare = (isExcluded ? part.slice(1) : part).toLowerCase();
  const [, field, word] = /^([a-z_]+):(.+)$/.exec(bare) ?? [];
  return field === undefined || word === undefined
    ? { field: null, word: bare, isExcluded }
    : { field, word, isExcluded };
}

function isFound({ field, word }: Term, fields: Fields, id: string): boolean {
  if (field !== null && Object.hasOwn(fields, field)) return fields[field]!.toLowerCase().includes(word);
  // A colon without a known field is part of the text, as in a MAC or an IPv6 address.
  const text = field === null ? word : `${field}:${word}`;
  if (text.length >= ID_WORD_CHARS_MIN && id.toLowerCase().includes(text)) return true;
  return Object.values(fields).some((value) => value.toLowerCase().includes(text));
}
