// Builds the error texts for schema violations. They name the field and the rule, never the value, which may be a
// secret.
import type { z } from "zod";
import type { Refusal } from "./error-answer.ts";

type Issue = z.core.$ZodIssue;

const ISSUES_SHOWN = 3;
const NAME_CHARS_MAX = 64;
const PLACES: Readonly<Record<string, string>> = { json: "body", form: "body", param: "path", header: "header" };

/** Formats that define the type of a value and not a rule about it. */
const FORMATS: Readonly<Record<string, string>> = {
  uuid: "a UUID",
  guid: "a UUID",
  ipv4: "an IPv4 address",
  ipv6: "an IPv6 address",
  cidrv4: "an IPv4 network",
  cidrv6: "an IPv6 network",
  datetime: "an RFC 3339 timestamp",
  url: "a URL",
};

/**
 * Returns the 400 for a request that violates its schema. If all violations are values in the body that break a rule,
 * such as a maximum, the error code is BadRequest. Otherwise, for example if a type is wrong, there is no error code.
 * @param target hono's name for the part of the request: json, query, param, header
 */
export function schemaRefusal(target: string, issues: readonly Issue[]): Refusal<400> {
  const place = PLACES[target] ?? target;
  const all = withoutRulesOfOtherTypes(issues.flatMap(unfold));
  const message = [...new Set(all.map((issue) => `${place}${pathText(issue.path)}: ${ruleText(issue)}`))]
    .slice(0, ISSUES_SHOWN).join("; ");
  const isValueRule = place === "body" && all.length > 0 && all.every(breaksValueRule);
  return { status: 400, message, ...(isValueRule && { error_code: "BadRequest" }) };
}

/**
 * Returns the issues of the union member that the caller probably meant. A union reports one list of issues for each
 * member; the shortest list is returned. An issue of another kind is returned unchanged.
 */
function unfold(issue: Issue): Issue[] {
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return [issue];
  const closest = issue.errors.reduce((best, member) => (member.length < best.length ? member : best));
  return closest.flatMap((inner) => unfold({ ...inner, path: [...issue.path, ...inner.path] }));
}

/**
 * Omits the other issues of a value that has a wrong type. For example, if a list is wanted and a text was sent, zod
 * also compares the length of the text with the maximum number of entries.
 */
function withoutRulesOfOtherTypes(issues: readonly Issue[]): Issue[] {
  const mistyped = new Set(issues.filter(({ code }) => code === "invalid_type").map(({ path }) => pathText(path)));
  return issues.filter(({ code, path }) => code === "invalid_type" || !mistyped.has(pathText(path)));
}

function pathText(path: readonly PropertyKey[]): string {
  return path.map((part) => (typeof part === "number" ? `[${part}]` : `.${name(String(part))}`)).join("");
}

function name(text: string): string {
  const short = text.length > NAME_CHARS_MAX ? `${text.slice(0, NAME_CHARS_MAX)}...` : text;
  return /^[\w.-]+$/.test(short) ? short : JSON.stringify(short);
}

function breaksValueRule(issue: Issue): boolean {
  switch (issue.code) {
    case "too_small":
    case "too_big":
    case "not_multiple_of":
    case "custom":
      return true;
    case "invalid_format":
      return FORMATS[issue.format] === undefined;
    default:
      return false;
  }
}

function ruleText(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.message.endsWith("received undefined") ? "is required" : `must be ${article(issue.expected)}`;
    case "too_small":
      return `must ${boundText(issue.origin, issue.inclusive === false ? ">" : ">=", issue.minimum)}`;
    case "too_big":
      return `must ${boundText(issue.origin, issue.inclusive === false ? "<" : "<=", issue.maximum)}`;
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "unrecognized_keys":
      return issue.keys.slice(0, ISSUES_SHOWN).map((key) => `unknown field ${JSON.stringify(name(key))}`).join(", ");
    case "invalid_value":
      return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}`;
    case "invalid_format":
      // Uses the schema's own message if the schema has one. Messages that begin with "Invalid" are from the library.
      if (!issue.message.startsWith("Invalid")) return issue.message;
      return FORMATS[issue.format] ? `must be ${FORMATS[issue.format]}` : "does not have the required form";
    case "invalid_union":
      return "does not match any of the allowed forms";
    case "invalid_key":
    case "invalid_element":
      return "has a key or value that is not allowed";
    case "custom":
      return issue.message;
  }
}

function boundText(origin: string, sign: string, bound: number | bigint): string {
  if (origin === "string") return `have ${sign} ${bound} characters`;
  if (origin === "array" || origin === "set" || origin === "object") return `have ${sign} ${bound} entries`;
  return `be ${sign} ${bound}`;
}

function article(type: string): string {
  const named = { int: "integer", number: "number", record: "object" }[type] ?? type;
  return `${/^[aeiou]/.test(named) ? "an" : "a"} ${named}`;
}
