// Changes and counts the labels of an object.
import { badRequest, type Fault } from "../../contract/fault.ts";
import type { Labels, LabelsPatch } from "../../contract/labels.ts";
import { LABELS_MAX } from "../../contract/limits.ts";

/**
 * Returns the changed labels, or the 400 if there are too many. A null patch changes nothing; a null value removes a
 * label.
 */
export function relabeled(labels: Labels, patch: LabelsPatch | null): Labels | Fault {
  const merged = Object.entries({ ...labels, ...patch }).filter((pair): pair is [string, string] => pair[1] !== null);
  if (merged.length > LABELS_MAX) return tooMany(merged.length);
  return Object.fromEntries(merged);
}

/** Returns the 400 for too many labels, or null. */
export function labelsFault(labels: Labels): Fault | null {
  const count = Object.keys(labels).length;
  return count > LABELS_MAX ? tooMany(count) : null;
}

function tooMany(count: number): Fault {
  return badRequest(`labels: an object has at most ${LABELS_MAX} labels, not ${count}`);
}
