// Parses a regular expression as far as backtracking needs it: characters, sequences, choices and repetitions.
// Lookarounds keep their content; anchors and references count as empty.

export type Part =
  | { readonly is: "character"; readonly source: string }
  | { readonly is: "sequence"; readonly parts: readonly Part[] }
  | { readonly is: "choice"; readonly parts: readonly Part[] }
  | { readonly is: "repeat"; readonly part: Part; readonly min: number; readonly max: number }
  | { readonly is: "look"; readonly part: Part }
  | { readonly is: "nothing" };

const CLASS = /\[(?:[^\]\\]|\\.)*\]/sy;
const ESCAPE = /\\(?:u\{[0-9a-f]+\}|u[0-9a-f]{4}|x[0-9a-f]{2}|[pP]\{[^}]*\}|c[a-z]|k<\w+>|[1-9]\d*|.)/isy;
const QUANTIFIER = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y;
const GROUP = /\((?:\?(?:(<?[=!])|:|<\w+>|[a-z-]+:))?/y;

/** Parses a pattern that `new RegExp` accepts. */
export function parsePattern(source: string): Part {
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found !== null) at += found[0].length;
    return found;
  };

  function choice(): Part {
    const parts = [sequence()];
    while (source[at] === "|") {
      at += 1;
      parts.push(sequence());
    }
    return parts.length === 1 ? parts[0]! : { is: "choice", parts };
  }

  function sequence(): Part {
    const parts: Part[] = [];
    while (at < source.length && source[at] !== "|" && source[at] !== ")") parts.push(quantified(atom()));
    return { is: "sequence", parts };
  }

  function atom(): Part {
    const group = take(GROUP);
    if (group !== null) {
      const part = choice();
      at += 1;
      return group[1] === undefined ? part : { is: "look", part };
    }
    const found = take(CLASS) ?? take(ESCAPE);
    if (found !== null) {
      return /^\\(?:[bB]|k<|[1-9])/.test(found[0]) ? { is: "nothing" } : { is: "character", source: found[0] };
    }
    const character = String.fromCodePoint(source.codePointAt(at)!);
    at += character.length;
    return "^$".includes(character) ? { is: "nothing" } : { is: "character", source: character };
  }

  function quantified(part: Part): Part {
    const found = take(QUANTIFIER);
    if (found === null) return part;
    const [, sign, low = "", comma, high = ""] = found;
    if (sign !== undefined) return { is: "repeat", part, min: sign === "+" ? 1 : 0, max: sign === "?" ? 1 : Infinity };
    const min = Number(low);
    return { is: "repeat", part, min, max: comma === "" ? min : high === "" ? Infinity : Number(high) };
  }

  const whole = choice();
  if (at !== source.length) throw new Error(`/${source}/ was parsed only up to position ${at}`);
  return whole;
}
