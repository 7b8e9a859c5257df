// Returns the labels of an object as text, and the action that sets them.
import type { Action } from "./action.ts";
import { send } from "./client.ts";
import { command, type Flags } from "./command.ts";
import { writersOnly } from "./session.ts";

export type Labels = Readonly<Record<string, string>>;

/** Returns KEY=VALUE of each label. A server of an earlier release sends no labels. */
export function labelTexts(labels: Labels = {}): string[] {
  return Object.entries(labels).map(([key, value]) => `${key}=${value}`);
}

export type Labeled = {
  /** The URL path of the object. The labels are set by a PATCH of this path. */
  readonly path: string;
  /** The command that changes the object, such as `tenantctl vpc update web`. */
  readonly argv: readonly string[];
  /** The flags of the command that name the object's parents, such as `--vpc`. */
  readonly flags?: Flags;
  readonly labels: Labels | undefined;
  /** The name of the object, if the page also shows other objects. */
  readonly name?: string;
  readonly refused?: string | null;
};

export function labelAction({ path, argv, flags = {}, labels: old = {}, name, refused = null }: Labeled): Action {
  return {
    title: name === undefined ? "Set labels" : `Set labels of ${name}`,
    button: "Set labels",
    fields: [{
      name: "labels",
      label: "Labels",
      type: "lines",
      isOptional: true,
      initial: labelTexts(old).join("\n"),
      hint: "One KEY=VALUE in each line",
    }],
    refused: writersOnly() ?? refused,
    cli: ({ labels = "" }) => {
      const { set, removed } = changesOf(old, parseLabels(labels));
      return command(argv, { ...flags, "--label": labelTexts(set), "--remove-label": removed });
    },
    send: async ({ labels = "" }, key) => {
      const { set, removed } = changesOf(old, parseLabels(labels));
      const body = { labels: { ...set, ...Object.fromEntries(removed.map((each) => [each, null])) } };
      await send("PATCH", path, { body, key });
    },
  };
}

/** Returns only the labels that the user changed, so that changes of other users in the meantime stay. */
function changesOf(old: Labels, wanted: Labels): { readonly set: Labels; readonly removed: readonly string[] } {
  const isOld = ([key, value]: readonly [string, string]) => Object.hasOwn(old, key) && old[key] === value;
  return {
    set: Object.fromEntries(Object.entries(wanted).filter((label) => !isOld(label))),
    removed: Object.keys(old).filter((key) => !Object.hasOwn(wanted, key)),
  };
}

/** Parses each line as KEY=VALUE. A line without = is a label with an empty value. */
export function parseLabels(text: string): Record<string, string> {
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return Object.fromEntries(lines.map((line) => {
    const at = line.indexOf("=");
    return at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 1)];
  }));
}
