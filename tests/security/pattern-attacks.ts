// Builds texts that make a regular expression backtrack. A pattern's time for these texts must grow linearly. There are
// two kinds of texts for each repetition in the expression:
// - The text matches the part before the repetition once and the repeated part many times, and then stops matching.
// - The text repeats both parts together.
import process from "node:process";
import type { Pattern } from "./program-patterns.ts";
import { parsePattern, type Part } from "./pattern-syntax.ts";

/** A text for an attack. `make` returns it with about `length` characters. */
export type Attack = { readonly description: string; make(length: number): string };

/** Repetitions that are limited to this count are not attacked, since they cannot take long. */
const SHORT = 20;
const SAMPLES_MAX = 4;
const COMMON = [..."a0 -./_:A\t\n=,é"];
const MISFITS = ["\u0001", ""];

export function attacksOn({ source, flags }: Pick<Pattern, "source" | "flags">): readonly Attack[] {
  const candidates = [...new Set([...COMMON, ...source.replace(/\\[a-z]/gi, "")])];
  const accepted = new Map<string, readonly string[]>();
  const charactersOf = (set: string): readonly string[] => {
    const known = accepted.get(set);
    if (known !== undefined) return known;
    const one = new RegExp(`^(?:${set})$`, flags.replace(/[gy]/g, ""));
    const found = candidates.filter((each) => one.test(each));
    const taken = found.length > 0 ? found : [
      Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code))
        .find((each) => one.test(each)) ?? "",
    ];
    accepted.set(set, taken);
    return taken;
  };

  /** Returns short texts that the part matches; the first is the simplest. */
  function samples(part: Part): readonly string[] {
    switch (part.is) {
      case "nothing":
      case "look":
        return [""];
      case "character":
        return spread(charactersOf(part.source));
      case "choice":
        return spread(part.parts.flatMap(samples));
      case "repeat": {
        const times = Math.min(Math.max(part.min, 1), SHORT);
        const repeated = samples(part.part).map((each) => each.repeat(times));
        return part.min === 0 ? [...repeated.slice(0, SAMPLES_MAX - 1), ""] : repeated;
      }
      case "sequence":
        return part.parts.map(samples).reduce<readonly string[]>(
          (whole, next) => spread(whole.flatMap((each) => next.map((other) => each + other))),
          [""],
        );
    }
  }

  /**
   * Returns texts to repeat: samples, and a word character followed by a non-word character. Repeated, such a pair has
   * many positions that match \b.
   */
  function repeatableTexts(part: Part): readonly string[] {
    const own = samples(part).filter((each) => each !== "");
    if (part.is !== "character") return own;
    const [word, other] = [/\w/, /\W/].map((kind) => charactersOf(part.source).find((each) => kind.test(each)));
    return word === undefined || other === undefined ? own : [...own, word + other];
  }

  const attacks = new Map<string, Attack>();
  const add = (description: string, make: (length: number) => string) =>
    void attacks.set(description, { description, make });
  const shown = (text: string) => JSON.stringify(text.slice(0, 30));

  function walk(part: Part, before: string): void {
    switch (part.is) {
      case "sequence": {
        let so_far = before;
        for (const each of part.parts) {
          walk(each, so_far);
          so_far += samples(each)[0] ?? "";
        }
        return;
      }
      case "choice":
        for (const each of part.parts) walk(each, before);
        return;
      case "look":
        return walk(part.part, before);
      case "repeat":
        walk(part.part, before);
        if (part.max <= SHORT) return;
        for (const repeated of repeatableTexts(part.part)) {
          for (const misfit of MISFITS) {
            for (const start of new Set([before, ""])) {
              add(
                `${shown(start)} ${shown(repeated)}... ${shown(misfit)}`,
                (length) => start + repeated.repeat(length / repeated.length) + misfit,
              );
            }
            const head = before + repeated;
            add(`${shown(head)}... ${shown(misfit)}`, (length) => head.repeat(length / head.length) + misfit);
          }
        }
        return;
      default:
        return;
    }
  }
  walk(parsePattern(source), "");
  for (const each of ["a", "0", " ", "\n"]) add(`${shown(each)}...`, (length) => `${each.repeat(length)}\u0001`);
  return [...attacks.values()];
}

/** Picks a few texts, evenly distributed. */
function spread(texts: readonly string[]): readonly string[] {
  const own = [...new Set(texts)];
  if (own.length <= SAMPLES_MAX) return own;
  return Array.from({ length: SAMPLES_MAX }, (_, index) => own[Math.floor(index * own.length / SAMPLES_MAX)]!);
}

/** The first sizes in characters: small, since an exponential pattern would never end with larger sizes. */
const FIRST = [16, 20, 24, 28, 200, 2_000] as const;
const SIZES = [25_000, 50_000, 100_000] as const;
/** The limit of S-29 in milliseconds for 100 KB. The CPU clock cannot measure shorter times. */
const ALLOWED_MS = 10;
/**
 * For a text of four times the size, a linear pattern needs 4 times as long, and a quadratic pattern 16 times. This
 * exponent allows 8 times.
 */
const POWER_MAX = 1.5;
const TRIES = 2;
/** After a measurement above this time, larger texts are skipped. No linear pattern needs so long for these texts. */
const ENOUGH_MS = 200;

/**
 * Returns a description of excessive growth, or null. Excessive growth is measured twice, because a garbage collection
 * may slow down one measurement.
 */
export function growthError(pattern: Pick<Pattern, "source" | "flags">, attack: Attack): string | null {
  return measuredError(pattern, attack) === null ? null : measuredError(pattern, attack);
}

function measuredError(
  { source, flags }: Pick<Pattern, "source" | "flags">,
  { description, make }: Attack,
): string | null {
  const pattern = new RegExp(source, flags);
  const time_ms = (size: number) => cpuTime_ms(pattern, make(size));
  for (const size of FIRST) {
    const took_ms = time_ms(size);
    if (took_ms > ALLOWED_MS && leastOf(() => time_ms(size)) > ALLOWED_MS) {
      return `${description}: ${took_ms.toFixed(0)} ms for ${size} characters`;
    }
  }
  // Even with quadratic growth, such a fast pattern stays below the limit for four times the text.
  if (time_ms(SIZES[0]) <= ALLOWED_MS / 16) return null;
  const least: number[] = [];
  for (const size of SIZES) {
    least.push(leastOf(() => time_ms(size)));
    if (least.at(-1)! > ENOUGH_MS) break;
  }
  const last_ms = least.at(-1)!;
  const times = SIZES[least.length - 1]! / SIZES[0];
  if (last_ms <= ALLOWED_MS || (times > 1 && last_ms / least[0]! <= times ** POWER_MAX)) return null;
  return `${description}: ${least.map((each) => each.toFixed(0)).join(", ")} ms for ${
    SIZES.slice(0, least.length)
  } characters`;
}

function leastOf(measure: () => number): number {
  return Math.min(...Array.from({ length: TRIES }, measure));
}

/** Measures CPU time of this process, so that a busy machine does not matter. */
function cpuTime_ms(pattern: RegExp, text: string): number {
  pattern.lastIndex = 0;
  const before = process.cpuUsage();
  if (pattern.global) text.replace(pattern, "");
  else pattern.test(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
