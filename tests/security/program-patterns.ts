// Finds every regular expression in the syntax trees of the program's files: literals, and arguments of RegExp.
import { parseAst } from "vitest/node";
import { CODE_FOLDERS, sources } from "../lint/sources.ts";

export type Pattern = { readonly at: string; readonly source: string; readonly flags: string };

type SyntaxNode = { readonly type: string; readonly start: number; readonly [field: string]: unknown };

/** The texts that replace a value in a template: COUNT inside braces, WORD elsewhere. */
const COUNT = "64";
const WORD = "word";

/** Returns the patterns of all files. Throws an Error for a constructor whose pattern cannot be read. */
export function programPatterns(): readonly Pattern[] {
  return sources(CODE_FOLDERS).flatMap(({ path, text }) => patternsIn(path, text));
}

export function patternsIn(path: string, text: string): Pattern[] {
  const found: Pattern[] = [];
  const line = ({ start }: SyntaxNode) => `${path}:${text.slice(0, start).split("\n").length}`;
  // parseAst declares no type for a node that a walk can visit without knowing its kind.
  walk(parseAst(text, { lang: path.endsWith(".tsx") ? "tsx" : "ts" }) as unknown as SyntaxNode, (node) => {
    const regex = node.regex as { pattern: string; flags: string } | undefined;
    if (node.type === "Literal" && regex !== undefined) {
      found.push({ at: line(node), source: regex.pattern, flags: regex.flags });
    }
    const callee = node.callee as SyntaxNode | undefined;
    if (callee?.name !== "RegExp" || !["NewExpression", "CallExpression"].includes(node.type)) return;
    const [given, flags] = node.arguments as readonly SyntaxNode[];
    const source = given === undefined ? null : textOf(given);
    if (source === null) throw new Error(`${line(node)}: the pattern of this RegExp is not a literal text`);
    found.push({ at: line(node), source, flags: typeof flags?.value === "string" ? flags.value : "" });
  });
  return found;
}

function textOf(node: SyntaxNode): string | null {
  if (typeof node.value === "string") return node.value;
  if (node.type !== "TemplateLiteral") return null;
  const texts = (node.quasis as readonly { value: { cooked: string } }[]).map(({ value }) => value.cooked);
  return texts.reduce((whole, next) => whole + (/\{(?:\d+,)?$/.test(whole) ? COUNT : WORD) + next);
}

function walk(node: SyntaxNode, see: (node: SyntaxNode) => void): void {
  see(node);
  for (const value of Object.values(node)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (typeof each === "object" && each !== null && typeof each.type === "string") walk(each, see);
    }
  }
}
