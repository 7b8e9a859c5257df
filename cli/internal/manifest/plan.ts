// Compares a manifest with the existing records, without requests. The order of the steps makes sure that every
// referenced record exists. Creations, replacements and changes come first, in the order of kinds. Deletions follow, in
// the reverse order of kinds.
import { canonicalJson } from "../../../src/lib/text/canonical-json.ts";
import type { Entry, ManifestKind } from "./kind.ts";
import type { Manifest } from "./read.ts";

export type Existing = Entry & {
  readonly id: string;
  /** False for a record that the server manages, such as a main route table. The plan never deletes such a record. */
  readonly removable: boolean;
  /** Why a change of the record has no effect. A plan that would change the record has a problem. */
  readonly no_effect?: string;
};

export type FieldDiff = { readonly field: string; readonly from: unknown; readonly to: unknown };
export type Step =
  | { readonly kind: "create"; readonly entry: Entry }
  | {
    readonly kind: "change";
    readonly entry: Entry;
    readonly existing: Existing;
    readonly diffs: readonly FieldDiff[];
  }
  | {
    readonly kind: "replace";
    readonly entry: Entry;
    readonly existing: Existing;
    readonly diffs: readonly FieldDiff[];
  }
  | { readonly kind: "delete"; readonly existing: Existing };
/** A step for a record of the manifest. */
export type EntryStep = Exclude<Step, { kind: "delete" }>;

export type Plan = {
  readonly steps: readonly Step[];
  readonly unchanged: number;
  /**
   * Differences that no request can remove, references to records that do not exist, and other reasons why the server
   * would refuse a step. A plan with problems is not run.
   */
  readonly problems: readonly string[];
};

export type Reference = { readonly list: string; readonly key: string };

/** The kinds of a program's manifests and their references. */
export type Schema = {
  /** The owner of the records, for messages: `the project` or `the site`. */
  readonly place: string;
  readonly kinds: readonly ManifestKind[];
  /** Returns the records that a record refers to. */
  referencesOf(entry: Entry): readonly Reference[];
};

type PlanOptions = {
  readonly prune: boolean;
  /**
   * Returns true for an existing record that no list shows, and for a record that the server creates together with
   * another record.
   */
  isKnown(reference: Reference): boolean;
  /** Returns why the server would refuse a step. */
  readonly problemsOf?: (step: EntryStep) => readonly string[];
};

export function planOf(
  { kinds, place, referencesOf }: Schema,
  manifest: Manifest,
  existing: readonly Existing[],
  { prune, isKnown, problemsOf }: PlanOptions,
): Plan {
  const found = new Map(existing.map((each) => [idOf(each), each]));
  const wanted = new Map(manifest.entries.map((each) => [idOf(each), each]));
  const problems: string[] = [];
  const steps: Step[] = [];
  let unchanged = 0;
  for (const { list } of kinds) {
    for (const entry of manifest.entries.filter((each) => each.list === list)) {
      const there = found.get(idOf(entry));
      const step = there === undefined ? { kind: "create", entry } as const : stepFor(entry, there, problems);
      if (step !== null) problems.push(...lostReferences(step), ...problemsOf?.(step) ?? []);
      if (step === null) unchanged++;
      else steps.push(step);
    }
  }
  const surplus = prune
    ? kinds.toReversed().flatMap(({ list }) => existing.filter((each) => each.list === list && isSurplus(each)))
    : [];
  return {
    steps: [...steps, ...surplus.map((each) => ({ kind: "delete", existing: each }) as const)],
    unchanged,
    problems,
  };

  function lostReferences(step: EntryStep): string[] {
    const { entry } = step;
    const kept = new Set(step.kind === "change" ? referencesOf(unchangedOf(entry, step.diffs)).map(idOf) : []);
    return referencesOf(entry)
      .filter((each) => ![kept, found, wanted].some((ids) => ids.has(idOf(each))) && !isKnown(each))
      .map(({ list, key }) =>
        `${entry.kind.singular} ${entry.key} refers to ${list} ${key}, which is neither in the manifest nor in ${place}`
      );
  }

  function isSurplus(each: Existing): boolean {
    return each.removable && each.kind.foreign !== true && manifest.lists.has(each.list) && !wanted.has(idOf(each));
  }
}

/**
 * Returns the entry with only the values that the step does not change. The run does not send these values, so the
 * records to which they refer may be missing.
 */
function unchangedOf(entry: Entry, diffs: readonly FieldDiff[]): Entry {
  const changed = new Set(diffs.map(({ field }) => field));
  return {
    ...entry,
    values: Object.fromEntries(Object.entries(entry.values).filter(([field]) => !changed.has(field))),
  };
}

function stepFor(entry: Entry, existing: Existing, problems: string[]): EntryStep | null {
  const { fields, singular } = entry.kind;
  const diffs = Object.entries(entry.values).flatMap(([field, to]): FieldDiff[] => {
    const from = existing.values[field] ?? null;
    const { change, chosen } = fields[field]!;
    if (change === "hidden" || (chosen === true && to === null) || isSame(from, to)) return [];
    return [{ field, from, to }];
  });
  if (diffs.length === 0) return null;
  if (existing.no_effect !== undefined) problems.push(`${singular} ${entry.key}: ${existing.no_effect}`);
  const changes = diffs.map(({ field }) => fields[field]!.change);
  for (const { field, from, to } of diffs) {
    const { change } = fields[field]!;
    if (change === "fixed" || (change === "grow" && Number(to) < Number(from))) {
      problems.push(
        `${singular} ${entry.key}: ${field} is ${shown(from)} and cannot become ${
          shown(to)
        }; delete the ${singular} first`,
      );
    }
  }
  return { kind: changes.includes("replace") ? "replace" : "change", entry, existing, diffs };
}

function isSame(from: unknown, to: unknown): boolean {
  return canonicalJson(withoutEmpty(from)) === canonicalJson(withoutEmpty(to));
}

/**
 * Returns null for an empty text, an empty list or object, and a missing value. Returns any other value unchanged. So
 * an empty description equals a missing one, and empty labels equal missing labels.
 */
export function withoutEmpty(value: unknown): unknown {
  if (value === "" || value === undefined) return null;
  return typeof value === "object" && value !== null && Object.keys(value).length === 0 ? null : value;
}

/** Returns the labels in the body of a PATCH, which removes labels that the manifest does not have. */
export function labelsPatch(wanted: Entry, existing: Entry): Record<string, unknown> {
  const removed = Object.keys(existing.values.labels ?? {}).map((key) => [key, null]);
  return { ...Object.fromEntries(removed), ...wanted.values.labels ?? {} };
}

export function idOf({ list, key }: Reference): string {
  return `${list} ${key}`;
}

export function shown(value: unknown): string {
  return value === null || value === undefined ? "unset" : typeof value === "string" ? value : canonicalJson(value);
}
