// Texts that make a regular expression try: what comes before a repetition, then what it repeats, many times, then what
// does not fit; and the same beginning over and over. The time that a pattern takes for them must grow as they do.
import process from "node:process";
import type { Pattern } from "./program-patterns.ts";
import { parsePattern, type Part } from "./pattern-syntax.ts";

/** A text of about so many characters. */
export type Attack = { readonly says: string; make(length: number): string };

/** Repetitions up to this often cannot try long. */
const SHORT = 20;
const PUMPS_MAX = 4;
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

  /** Texts that the part matches, short ones; the first is the plainest. */
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
        return part.min === 0 ? [...repeated.slice(0, PUMPS_MAX - 1), ""] : repeated;
      }
      case "sequence":
        return part.parts.map(samples).reduce<readonly string[]>(
          (whole, next) => spread(whole.flatMap((each) => next.map((other) => each + other))),
          [""],
        );
    }
  }

  /** What is repeated: samples, and one of a word's characters in turn with one that is none, where words begin anew. */
  function pumpsOf(part: Part): readonly string[] {
    const own = samples(part).filter((each) => each !== "");
    if (part.is !== "character") return own;
    const [word, other] = [/\w/, /\W/].map((kind) => charactersOf(part.source).find((each) => kind.test(each)));
    return word === undefined || other === undefined ? own : [...own, word + other];
  }

  const attacks = new Map<string, Attack>();
  const add = (says: string, make: (length: number) => string) => void attacks.set(says, { says, make });
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
        for (const worker of pumpsOf(part.part)) {
          for (const misfit of MISFITS) {
            for (const start of new Set([before, ""])) {
              add(
                `${shown(start)} ${shown(worker)}... ${shown(misfit)}`,
                (length) => start + worker.repeat(length / worker.length) + misfit,
              );
            }
            const head = before + worker;
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

/** Some of many, from all over. */
function spread(texts: readonly string[]): readonly string[] {
  const own = [...new Set(texts)];
  if (own.length <= PUMPS_MAX) return own;
  return Array.from({ length: PUMPS_MAX }, (_, index) => own[Math.floor(index * own.length / PUMPS_MAX)]!);
}

/** Before these, a pattern that grows exponentially would not come back. */
const FIRST = [16, 20, 24, 28, 200, 2_000] as const;
const SIZES = [25_000, 50_000, 100_000] as const;
/** What rule S-29 allows for 100 KB. Below it nothing is worth measuring: the clock of the processor is not that exact. */
const ALLOWED_MS = 10;
/** Four times the text takes a linear pattern four times as long, a quadratic one 16 times: halfway, with this power, 8. */
const POWER_MAX = 1.5;
const TRIES = 2;
/** A longer text is not waited for. No linear pattern needs so long for any of these texts. */
const ENOUGH_MS = 200;

/** What is wrong with the growth, or null. */
export function growthError(
  { source, flags }: Pick<Pattern, "source" | "flags">,
  { says, make }: Attack,
): string | null {
  const pattern = new RegExp(source, flags);
  const time_ms = (size: number) => cpuTime_ms(pattern, make(size));
  for (const size of FIRST) {
    const took_ms = time_ms(size);
    if (took_ms > ALLOWED_MS && leastOf(() => time_ms(size)) > ALLOWED_MS) {
      return `${says}: ${took_ms.toFixed(0)} ms for ${size} characters`;
    }
  }
  // One that is so quick is quick with a text of four times the length too, even if it grows 16 times.
  if (time_ms(SIZES[0]) <= ALLOWED_MS / 16) return null;
  const least: number[] = [];
  for (const size of SIZES) {
    least.push(leastOf(() => time_ms(size)));
    if (least.at(-1)! > ENOUGH_MS) break;
  }
  const last_ms = least.at(-1)!;
  const times = SIZES[least.length - 1]! / SIZES[0];
  if (last_ms <= ALLOWED_MS || (times > 1 && last_ms / least[0]! <= times ** POWER_MAX)) return null;
  return `${says}: ${least.map((each) => each.toFixed(0)).join(", ")} ms for ${
    SIZES.slice(0, least.length)
  } characters`;
}

function leastOf(measure: () => number): number {
  return Math.min(...Array.from({ length: TRIES }, measure));
}

/** Of this process, so that a busy machine does not count. */
function cpuTime_ms(pattern: RegExp, text: string): number {
  pattern.lastIndex = 0;
  const before = process.cpuUsage();
  if (pattern.global) text.replace(pattern, "");
  else pattern.test(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
