// Finds steps that the server would refuse because of a collision. Two routes of a route table collide if they have the
// same destination. Two subnets of a VPC collide if their blocks overlap. A run does not first delete or change the
// existing record, because the server could still refuse the new record. The project would then have lost a route that
// is in use.
import { containsBlock, parseBlock } from "../../../src/lib/net/ip-block.ts";
import type { Entry } from "../../internal/manifest/kind.ts";
import type { EntryStep, Existing } from "../../internal/manifest/plan.ts";
import type { Manifest } from "../../internal/manifest/read.ts";
import { shellQuote } from "../../internal/shell-quote.ts";

type Rule = {
  /** The fields that must differ between the records of one parent. */
  readonly fields: readonly string[];
  readonly remedy: string;
  collide(one: string, other: string): boolean;
};

const RULES: Readonly<Record<string, Rule>> = {
  routes: { fields: ["destination"], remedy: "change or delete it first", collide: (one, other) => one === other },
  subnets: { fields: ["ipv4_block", "ipv6_block"], remedy: "delete it first", collide: overlap },
};

/** Returns a problem for each existing record because of which the server would refuse the record of the step. */
export function collisions(
  { kind, entry }: EntryStep,
  existing: readonly Existing[],
  manifest: Manifest | null,
): string[] {
  const rule = RULES[entry.list];
  if (rule === undefined || kind === "change") return [];
  return existing
    .filter((other) => other.list === entry.list && other.key !== entry.key && parentOf(other) === parentOf(entry))
    .flatMap((other) => {
      const field = rule.fields.find((each) => haveCollision(rule, entry.values[each], other.values[each]));
      if (field === undefined) return [];
      const [wanted, taken] = [entry.values[field], other.values[field]];
      const is_kept = manifest?.entries.some(({ list, key }) => list === other.list && key === other.key) === true;
      const overlapping = wanted === taken ? "" : `, which overlaps ${wanted}`;
      const is_renamed = kind === "create" && !is_kept && wanted === taken;
      const remedy = is_renamed ? `${renaming(other, entry)}, or delete it` : rule.remedy;
      return [`${other.kind.singular} ${other.key} has the ${field} ${taken}${overlapping}; ${remedy}`];
    });
}

function haveCollision({ collide }: Rule, wanted: unknown, taken: unknown): boolean {
  return typeof wanted === "string" && typeof taken === "string" && collide(wanted, taken);
}

function overlap(one: string, other: string): boolean {
  const [a, b] = [parseBlock(one), parseBlock(other)];
  return a !== null && b !== null && (containsBlock(a, b) || containsBlock(b, a));
}

function parentsOf({ kind, values }: Entry): (readonly [field: string, name: unknown])[] {
  return kind.key.slice(0, -1).map((field) => [field, values[field]]);
}

function parentOf(entry: Entry): string {
  return parentsOf(entry).map(([, name]) => name).join("/");
}

/** Returns the command that gives the other record the name of the entry. */
function renaming(other: Entry, entry: Entry): string {
  const { kind, values } = other;
  const parents = parentsOf(other).flatMap(([field, name]) => [`--${field.replace("_", "-")}`, name]);
  const words = ["tenantctl", kind.singular, "update", values.name, ...parents, "--name", entry.values.name];
  return `rename it first with \`${words.map((word) => shellWord(String(word))).join(" ")}\``;
}

function shellWord(text: string): string {
  return /^[\w.-]+$/.test(text) ? text : shellQuote(text);
}
