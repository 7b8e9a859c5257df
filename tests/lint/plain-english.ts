// Lists refused phrases and names, each with its replacement.

export type Pattern = {
  readonly pattern: RegExp;
  /** The replacement. */
  readonly fix: string;
};

/** The start of a sentence in a comment, a string or a paragraph. */
const START = String.raw`(?:^|[.:;!?] |// |-- |/\*\* |^\s*\* |["\x60])`;

export const PATTERNS: readonly Pattern[] = [
  { pattern: /\banew\b/i, fix: "again" },
  {
    pattern: /\b(?:who|whom|what)soever\b|\bwho(?:m)?ever\b/i,
    fix: "name the actor: the caller, the server, the operator",
  },
  {
    pattern: /\bnobody\b|\bno one\b/i,
    fix: "name the actor, or use the passive: no process reads it, it is never read",
  },
  { pattern: /\bwish(?:es|ed)?\b/i, fix: "request, default or option" },
  // The doctor's JSON has a field `mend`, which code may name.
  { pattern: /\bmend(?:s|ed|ing)?\b/i, fix: "fix or remediation" },
  { pattern: /\bhear(?:s|d|ing)?\b/i, fix: "receives, gets, or last heartbeat 119 s ago" },
  {
    pattern:
      /\bstood\b|\bstands\b|\bstand (?:in|on|at|for|against|there|still|beside|under|behind|as|by)\b|\bstanding\b/i,
    fix: "is, runs, is stored, conflicts: the verb that says what happens; status for standing",
  },
  {
    pattern:
      /\btells (?!to\b|that (?:are|were|wait)\b|and\b|are\b|in\b|from\b|by\b|at\b|for\b|with\b|on\b|as\b|arrive|wait|must\b|may\b|can\b)[a-z]|\b(?:is|are|was|were|be|been|being) told\b|\btold (?:it|them|us|the|of|that|so|to|an?)\b/i,
    fix: "reports, shows, returns, says; a tell is only the message from one actor to another",
  },
  { pattern: /\b(?:is|are|was|were|be) said\b|\b(?:says|said|say) so\b/i, fix: "name the actor: the server reports" },
  { pattern: /\b(?:is|are|was|were|be|being|as) none\b/i, fix: "does not exist, is not a NOUN, is absent" },
  {
    pattern: /\b(?:that|those|this|the one|the ones) of\b/i,
    fix: "repeat the noun: the tenant's quota, the node's name",
  },
  { pattern: /\b(?:he|him|his|she|her)\b/i, fix: "they, or the role: the operator, the caller" },
  { pattern: /\b(?:goes|go|went|going|gone) on\b(?! (?:to|port|the)\b)/i, fix: "continues" },
  { pattern: /\breads? [45]\d\d\b/i, fix: "gets 404" },
  { pattern: /\bha(?:s|ve) (?:not|no) (?:the )?right\b/i, fix: "lacks permission" },
  { pattern: /\b(?:to be|be) had\b/i, fix: "available" },
  { pattern: /\b(?:comes?|came|sent|asked|tried) again\b/i, fix: "repeats, is repeated, retries" },
  { pattern: /\bas (?:it|they) should\b/i, fix: "correct; name the rule" },
  { pattern: /\b(?:its|their|the) (?:last |own |first )?word (?:on|for|about|of|is|counts)\b/i, fix: "report, status" },
  { pattern: /\b(?:lies|lie|lay) (?:in|at|on|there|beside|below|behind|within)\b/i, fix: "is" },
  { pattern: /\b(?:bears|bear|bore)\b/i, fix: "has, carries" },
  {
    pattern: /\b(?:thereof|therein|wherein|whence|thence|hither|lest|nought|naught|aught|upon|betimes|wont)\b/i,
    fix: "modern English",
  },
  {
    pattern: /\b(?:is|are|was|were) (?:it|they|he) that\b|\bit is (?:the|a)\b[^.]{0,40}\bthat (?:is|does|has)\b/i,
    fix: "subject first",
  },
  { pattern: /\blaborator(?:y|ies)\b/i, fix: "dev environment" },
  { pattern: /\bupkeep\b/i, fix: "maintenance" },
  { pattern: /\bthe pump\b|\bpumps\b/i, fix: "background worker" },
  { pattern: /\bplanted\b/i, fix: "mutant" },
  { pattern: /\b(?:kitchen|recipes?)\b/i, fix: "job context, job steps" },
  { pattern: /\bheld polls?\b/i, fix: "long poll" },
  { pattern: /\brigs?\b/i, fix: "fixture" },
  { pattern: /\bthe (?:message )?bus\b/i, fix: "the AMQP broker" },
  { pattern: /\bthe (?:plane|kit)\b/i, fix: "the server, the API client; cli/internal" },
  { pattern: /\bthis house\b|\bthe house\b/i, fix: "the code base" },
  { pattern: /\b(?:the|these) papers\b/i, fix: "documents" },
  // A clause without a subject, used instead of a sentence: "What is not asked for", "Who may see it", "Whose key it
  // is".
  {
    pattern: new RegExp(`${START}(?:What|Who|Whose|Whom|That which) (?![^\\n]*\\?)`, "m"),
    fix: "start with the noun: Fields of a request. Lists the callers.",
  },
  {
    pattern: new RegExp(`${START}(?:All|Everything|Anything|Something|Nothing) (?:that|of|which|but)\\b`, "m"),
    fix: "start with the noun",
  },
  { pattern: /\bDocuments? [1-4](?:\b|,)/, fix: "cite a heading of docs/, or give the reason itself" },
];

/** Names of identifiers and files that the glossary replaces. */
export const NAMES: readonly Pattern[] = [
  {
    pattern:
      /(?:^|[a-z_-])(?:Pump|Upkeep|Kitchen|Recipe|Rig|Ground|Rigs)(?![a-z])|^(?:pump|upkeep|kitchen|recipe|rig|ground)$/,
    fix: "BackgroundWorker, maintenance, JobContext, JobSteps, fixture",
  },
  {
    pattern:
      /^(?:World|world|Plane|Bus|Gate|Kit|Papers)$|^(?:open|create|make)(?:World|Plane|Bus|Gate|Rig|Ground|Cloud)$/,
    fix: "environment, API client, AMQP, authorize, internal, documents",
  },
  {
    pattern: /^(?:Turn|turns|Turns|stood|Stood|findStood|Standing|standing|mends)$/,
    fix: "idempotency claim, saved scope, status, fix",
  },
];

export type Found = { readonly line: number; readonly text: string; readonly word: string; readonly fix: string };

const TEXT = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g;
const SQL_COMMENT = /--[^\n]*/g;
/** Code, and the parts of a page that `task docs` prints from texts that are checked in their source. */
const NOT_PROSE = /^```[\s\S]*?^```|`[^`\n]*`|<!-- (?:table|limits|codes): [\s\S]*?<!-- end -->/gm;

/** Finds refused phrases in the comments and strings of TypeScript, the comments of SQL, and the prose of Markdown. */
export function refused(path: string, source: string): Found[] {
  return texts(path, source).flatMap(({ text, at }) =>
    PATTERNS.flatMap(({ pattern, fix }) =>
      [...text.matchAll(new RegExp(pattern.source, `g${pattern.flags}`))].map((match) => {
        const line = source.slice(0, at + match.index).split("\n").length;
        return { line, text: lineAt(text, match.index), word: match[0].trim(), fix };
      })
    )
  );
}

type Text = { readonly text: string; readonly at: number };

function texts(path: string, source: string): Text[] {
  if (path.endsWith(".md")) {
    return [{ text: source.replace(NOT_PROSE, (block) => block.replace(/[^\n]/g, "-")), at: 0 }];
  }
  return [...source.matchAll(path.endsWith(".sql") ? SQL_COMMENT : TEXT)]
    // A text for people has a space; other strings are keys, paths or patterns.
    .filter(([text]) => / /.test(text))
    .map((match) => ({ text: match[0].replace(/\$\{[^{}]*\}/g, (hole) => "-".repeat(hole.length)), at: match.index }));
}

function lineAt(text: string, index: number): string {
  const start = text.lastIndexOf("\n", index - 1) + 1;
  const end = text.indexOf("\n", index);
  return text.slice(start, end < 0 ? text.length : end).trim();
}
