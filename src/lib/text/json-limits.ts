// Checks the limits of a JSON text, in one pass without recursion. A check after JSON.parse would be too late:
// JSON.parse rounds large integers, keeps only the last of two equal keys and does not limit the depth
// (docs/reliability.md, S-28). Text that PostgreSQL cannot store (NUL, half a surrogate pair) is also rejected here, so
// that it does not cause a 500 later.
//
// This is not a parser: malformed JSON may pass, and JSON.parse rejects it.
import { JSON_DEPTH_MAX, JSON_ELEMENTS_MAX } from "../../contract/limits.ts";

const DEPTH_RULE = `JSON must not be nested deeper than ${JSON_DEPTH_MAX} levels`;
const INTEGER_RULE = `JSON integers must be within ±${Number.MAX_SAFE_INTEGER}`;
const FINITE_RULE = "JSON numbers must fit a 64-bit float";
const REPEATED_KEY_RULE = "JSON objects must not repeat a key";
const PROTO_RULE = "JSON objects must not have the key __proto__";
const NUL_RULE = "JSON strings must not hold a NUL character";
const SURROGATE_RULE = "JSON strings must not hold half of a surrogate pair";

const VALUE_STARTS = new Set('"{[-0123456789tfn');
const NUMBER_STARTS = new Set("-0123456789");
const NUMBER_CHARS = new Set("-+.eE0123456789");

/** An open object or array. `keys` are the keys of the object so far; null for an array. */
type Open = { readonly keys: Set<string> | null; keyNext: boolean };

/**
 * Returns the rule that a JSON text violates, or null. Depth counts open arrays and objects; elements are array items
 * and object members, over the whole text. An integer literal must be within ±Number.MAX_SAFE_INTEGER; any other number
 * must be finite.
 */
export function jsonLimits(text: string, elements_max: number = JSON_ELEMENTS_MAX): string | null {
  if (!text.isWellFormed()) return SURROGATE_RULE;
  const open: Open[] = [];
  let elements = 0;
  let at = 0;
  while (at < text.length) {
    const char = text[at]!;
    const inner = open.at(-1);
    const keys = char === '"' && inner?.keyNext ? inner.keys : null;
    if (keys !== null || (inner?.keys === null && VALUE_STARTS.has(char))) elements++;
    if (elements > elements_max) {
      return `JSON must not hold more than ${elements_max} array items and object members`;
    }

    const end = tokenEnd(text, at);
    if (char === '"') {
      const literal = text.slice(at, end);
      const rule = stringRule(literal) ?? (keys && keyRule(keys, literal));
      if (rule !== null) return rule;
      if (inner) inner.keyNext = false;
    } else if (char === "{" || char === "[") {
      if (open.length === JSON_DEPTH_MAX) return DEPTH_RULE;
      open.push({ keys: char === "{" ? new Set() : null, keyNext: true });
    } else if (char === "}" || char === "]") {
      open.pop();
    } else if (char === ",") {
      if (inner) inner.keyNext = true;
    } else if (NUMBER_STARTS.has(char)) {
      const rule = numberRule(text.slice(at, end));
      if (rule !== null) return rule;
    }
    at = end;
  }
  return null;
}

function tokenEnd(text: string, at: number): number {
  if (text[at] === '"') return stringEnd(text, at);
  let end = at + 1;
  if (NUMBER_STARTS.has(text[at]!)) { while (end < text.length && NUMBER_CHARS.has(text[end]!)) end++; }
  return end;
}

/** Returns the index after the closing quote, or the end of the text if the string is not closed. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '"') return at + 1;
    if (text[at] === "\\") at++;
  }
  return text.length;
}

function stringRule(literal: string): string | null {
  let high = -1; // The end of the last escaped high surrogate. An escaped low surrogate must start there.
  for (let at = literal.indexOf("\\"); at !== -1; at = literal.indexOf("\\", at)) {
    if (literal[at + 1] !== "u") {
      at += 2;
      continue;
    }
    const unit = Number.parseInt(literal.slice(at + 2, at + 6), 16);
    if (unit === 0) return NUL_RULE;
    const isLow = unit >= 0xdc00 && unit <= 0xdfff;
    if (isLow !== (high === at)) return SURROGATE_RULE;
    if (high !== -1 && high !== at) return SURROGATE_RULE;
    at += 6;
    high = unit >= 0xd800 && unit <= 0xdbff ? at : -1;
  }
  return high === -1 ? null : SURROGATE_RULE;
}

function keyRule(keys: Set<string>, literal: string): string | null {
  const key = literal.includes("\\") ? decoded(literal) : literal.slice(1, -1);
  if (key === "__proto__") return PROTO_RULE;
  if (keys.has(key)) return REPEATED_KEY_RULE;
  keys.add(key);
  return null;
}

function decoded(literal: string): string {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return literal; // A malformed escape: JSON.parse rejects the text.
  }
}

function numberRule(literal: string): string | null {
  if (/^-?\d+$/.test(literal)) return Number.isSafeInteger(Number(literal)) ? null : INTEGER_RULE;
  return Math.abs(Number(literal)) === Infinity ? FINITE_RULE : null;
}
