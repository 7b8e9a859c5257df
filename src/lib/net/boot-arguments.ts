// Selects the kernel arguments that operators have set for one machine (docs/booting.md, "Kernel arguments and the
// console").
import type { BootArguments, LabelArguments } from "../../contract/boot.ts";
import type { Labels } from "../../contract/labels.ts";

/**
 * Returns the arguments of the labels that the node has, in the order of the policy, followed by the machine's own
 * arguments. The last console wins, so the console of the machine replaces a console of its labels. `labels` is null
 * for a machine that is not a node yet.
 */
export function bootArguments(
  own: BootArguments,
  labels: Labels | null,
  label_arguments: readonly LabelArguments[],
): BootArguments {
  const applied = [...label_arguments.filter(({ label }) => labels !== null && hasLabel(labels, label)), own];
  return {
    kernel_args: applied.flatMap(({ kernel_args }) => kernel_args),
    console: applied.findLast(({ console }) => console !== null)?.console ?? null,
  };
}

function hasLabel(labels: Labels, label: string): boolean {
  const at = label.indexOf("=");
  const key = label.slice(0, at);
  return Object.hasOwn(labels, key) && labels[key] === label.slice(at + 1);
}
