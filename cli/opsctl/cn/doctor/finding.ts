// One thing that an operator should know about a node, and what mends it.

export type Finding = {
  /** stops: the node cannot be used until it is mended. warns: it can, with a drawback. */
  readonly level: "stops" | "warns";
  readonly text: string;
  /** A command to run, or what to do by hand. Null when only waiting helps. */
  readonly fix: string | null;
};

export function stops(text: string, fix: string | null = null): Finding {
  return { level: "stops", text, fix };
}

export function warns(text: string, fix: string | null = null): Finding {
  return { level: "warns", text, fix };
}
