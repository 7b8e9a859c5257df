// Defines the verbs `apply`, `diff` and `export` of manifests, for opsctl and tenantctl.
import { type AnyCommand, command } from "../../framework.ts";
import { YES_FLAGS } from "../delete-command.ts";
import { confirm } from "../confirmation.ts";
import { EXIT } from "../exit-code.ts";
import { Failure, reworded } from "../failure.ts";
import type { Io } from "../io.ts";
import { yamlText } from "../output/yaml-text.ts";
import type { ManifestKind } from "./kind.ts";
import {
  type EntryStep,
  type Existing,
  type Plan,
  planOf,
  type Reference,
  type Schema,
  type Step,
  withoutEmpty,
} from "./plan.ts";
import { appliedText, planData, planText, stepLine } from "./plan-text.ts";
import { isInterrupt, stoppedText } from "./progress.ts";
import { type Manifest, readManifest } from "./read.ts";

/** The existing records, and the function that runs a plan for them. */
export type Present = {
  readonly existing: readonly Existing[];
  /** For an export: the records that a manifest cannot describe, by kind. */
  readonly left_out?: readonly string[];
  isKnown(reference: Reference): boolean;
  /** Returns why the server would refuse a step. */
  readonly problemsOf?: (step: EntryStep) => readonly string[];
  /** Waits for operations of the plan's records. */
  readonly settle?: (plan: Plan) => Promise<Settled>;
  run(plan: Plan, report: (step: Step) => void): Promise<void>;
};
/** `changed`: the records must be read again. `late`: the operations that have not ended within the time limit. */
export type Settled = { readonly changed: boolean; readonly late: readonly string[] };
type Action<O> = (options: O) => Promise<void>;
export type ManifestVerbs<I extends Io> = {
  readonly schema: Schema;
  /** The words after the verb in the examples of help. */
  readonly examples: { readonly file: string; readonly export: string };
  withIo<O>(body: (io: I, options: O) => Promise<void>): Action<O>;
  /** Like `withIo`, but the verb prints text even into a pipe: users redirect its output to a file. */
  withText<O>(body: (io: I, options: O) => Promise<void>): Action<O>;
  /** Throws a usage Failure if the command line lacks a selector that `what` needs. Called first. */
  check(io: I, what: string): void | Promise<void>;
  /** Reads the existing records. `manifest` is null for an export. */
  read(io: I, manifest: Manifest | null, prune: boolean): Promise<Present>;
};

const FILE_OPTION = [
  "-f, --file <path>",
  "manifest in YAML or JSON: a file, a folder, or - for standard input",
] as const;
const PRUNE_OPTION = ["--prune", "delete records that are not in the manifest's lists"] as const;

export function apply<I extends Io>(summary: string, verbs: ManifestVerbs<I>): AnyCommand {
  type Options = { file: string; prune?: true; dryRun?: true; yes?: true };
  return command("apply", summary, verbs.examples.file)
    .requiredOption(...FILE_OPTION)
    .option(...PRUNE_OPTION)
    .option("--dry-run", "print the plan and change nothing")
    .option(YES_FLAGS, "do not ask before --prune deletes records")
    .action(verbs.withIo<Options>(async (io, { file, prune, dryRun, yes }) => {
      const manifest = await manifestOf(io, verbs, file);
      const read = () => planFor(io, verbs, { manifest, prune: prune === true });
      let { plan, present } = await read();
      const settled = dryRun === true ? undefined : await present.settle?.(plan);
      // The second plan may lack a problem of the first plan, because an instance has changed or was deleted meanwhile.
      if (settled?.changed) ({ plan, present } = await read());
      refuseProblems(plan);
      if (dryRun === true || plan.steps.length === 0) io.print(planData(plan), planText(plan));
      else {
        await agree(io, plan, yes === true);
        await runPlan(io, plan, present);
        io.print(planData(plan), appliedText(plan));
      }
      refuseLate(settled?.late ?? []);
    }));
}

/** Runs the plan. If the plan stops, the failure (after Ctrl-C, a note) lists what was applied and what was not. */
async function runPlan(io: Io, plan: Plan, present: Present): Promise<void> {
  const done: Step[] = [];
  try {
    await present.run(plan, (step) => {
      done.push(step);
      if (!io.json) io.say(stepLine(step));
    });
  } catch (error) {
    const text = stoppedText(plan, done);
    if (isInterrupt(error)) io.note(text);
    throw error instanceof Failure && !isInterrupt(error) ? reworded(error, `${error.message}\n${text}`) : error;
  }
}

export function diff<I extends Io>(summary: string, verbs: ManifestVerbs<I>): AnyCommand {
  return command("diff", summary, verbs.examples.file)
    .requiredOption(...FILE_OPTION)
    .option(...PRUNE_OPTION)
    .action(verbs.withIo<{ file: string; prune?: true }>(async (io, { file, prune }) => {
      const manifest = await manifestOf(io, verbs, file);
      const { plan } = await planFor(io, verbs, { manifest, prune: prune === true });
      io.print(planData(plan), planText(plan));
      refuseProblems(plan);
      if (plan.steps.length > 0) throw new Failure(`${verbs.schema.place} differs from the manifest`, EXIT.failure);
    }));
}

export function exportManifest<I extends Io>(summary: string, verbs: ManifestVerbs<I>): AnyCommand {
  return command("export", summary, verbs.examples.export)
    .action(verbs.withText(async (io) => {
      await verbs.check(io, "a manifest");
      const { existing, left_out = [] } = await verbs.read(io, null, false);
      const manifest = exported(verbs.schema.kinds, existing);
      io.print(manifest, yamlText(manifest));
      if (left_out.length > 0) io.note(`warning: the export leaves out ${left_out.join("; ")}`);
    }));
}

async function manifestOf<I extends Io>(io: I, verbs: ManifestVerbs<I>, file: string): Promise<Manifest> {
  await verbs.check(io, "the records of a manifest");
  return await readManifest(io, file, verbs.schema.kinds);
}

type Given = { readonly manifest: Manifest; readonly prune: boolean };

async function planFor<I extends Io>(
  io: I,
  verbs: ManifestVerbs<I>,
  { manifest, prune }: Given,
): Promise<{ plan: Plan; present: Present }> {
  const present = await verbs.read(io, manifest, prune);
  return { present, plan: planOf(verbs.schema, manifest, present.existing, { ...present, prune }) };
}

/** Throws a Failure if the plan has problems. */
function refuseProblems({ problems }: Plan): void {
  if (problems.length > 0) throw new Failure(problems.join("\n"), EXIT.failure);
}

function refuseLate(late: readonly string[]): void {
  if (late.length > 0) {
    throw new Failure(`${late.join(", ")} has not ended; run the command again later`, EXIT.failure);
  }
}

async function agree(io: Io, plan: Plan, yes: boolean): Promise<void> {
  const deleted = plan.steps.filter(({ kind }) => kind === "delete");
  if (deleted.length === 0) return;
  const warning = `These records will be deleted:\n${deleted.map(stepLine).join("\n")}`;
  await confirm(io, yes, () => Promise.resolve({ warning, names: [`delete ${deleted.length}`] }));
}

/** Returns the manifest of these records. */
export function exported(kinds: readonly ManifestKind[], existing: readonly Existing[]): Record<string, unknown> {
  const lists = kinds.map((kind) => [kind.list, exportedOf(kind, existing)] as const);
  return Object.fromEntries(lists.filter(([, items]) => Object.keys(items).length > 0));
}

/** Returns the records of one kind, in the order of their keys, so that two exports of the same records are equal. */
function exportedOf(kind: ManifestKind, existing: readonly Existing[]): object {
  const shown = existing.filter((each) => each.list === kind.list && each.removable && kind.foreign !== true)
    .toSorted((a, b) => a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
    .map(({ values }) => ordered(values, Object.keys(kind.fields)));
  return kind.single === true ? shown[0] ?? {} : shown;
}

/** Returns the values in the order of the fields, without the unset ones. */
function ordered(values: Readonly<Record<string, unknown>>, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    fields.map((field) => [field, values[field]]).filter(([, value]) => withoutEmpty(value) !== null),
  );
}
