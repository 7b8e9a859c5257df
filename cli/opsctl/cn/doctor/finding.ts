// A problem or a warning about a node, and its fix.

export type Finding = {
  /** stops: the node cannot be used until this is fixed. warns: the node can be used. */
  readonly level: "stops" | "warns";
  readonly text: string;
  /** A command to run or a step to take. Null when only waiting helps. */
  readonly mend: string | null;
};

export function stops(text: string, mend: string | null = null): Finding {
  return { level: "stops", text, mend };
}

export function warns(text: string, mend: string | null = null): Finding {
  return { level: "warns", text, mend };
}
