// Defines the schemas of labels, which are pairs of a key and a value. Tenants label their objects, and operators label
// nodes. Lists can be filtered by labels.
import { z } from "zod";
import { LABEL_CHARS_MAX, LABEL_FILTER_CHARS_MAX } from "./limits.ts";

const KEY = new RegExp(`^[a-z0-9](?:[a-z0-9._/-]{0,${LABEL_CHARS_MAX - 2}}[a-z0-9])?$`);
const VALUE = new RegExp(`^[A-Za-z0-9._:/@+-]{0,${LABEL_CHARS_MAX}}$`);

const RULE =
  `A key has 1 to ${LABEL_CHARS_MAX} characters of a-z, 0-9 and ._/-, and begins and ends with a letter or ` +
  `digit. A value has up to ${LABEL_CHARS_MAX} characters of A-Z, a-z, 0-9 and ._:/@+-.`;

const Key = z.string().regex(KEY, `a key of a label must match ${KEY.source}`);
const Value = z.string().regex(VALUE, `a value of a label must match ${VALUE.source}`);

/** The labels of an object. */
export const Labels = z.record(z.string(), z.string()).describe("The labels");
export type Labels = z.infer<typeof Labels>;

/** The labels of a new object. */
export const NewLabels = z.record(Key, Value).describe(RULE);

/** A change of labels. Null removes a label; labels that are not in the change stay. */
export const LabelsPatch = z.record(Key, Value.nullable()).describe(
  `Sets these labels and keeps the others; null removes a label. ${RULE}`,
);
export type LabelsPatch = z.infer<typeof LabelsPatch>;

/** One label as text: KEY=VALUE. */
export const LabelText = z.string().refine(
  (text) => {
    const at = text.indexOf("=");
    return at > 0 && KEY.test(text.slice(0, at)) && VALUE.test(text.slice(at + 1));
  },
  `must be KEY=VALUE. ${RULE}`,
);

/** A filter of a list by labels. Each wanted label has a key, and a value or null for any value. */
export type LabelFilter = readonly { readonly key: string; readonly value: string | null }[];

/** The text of a filter, parsed. */
export const LabelFilterText = z.string().min(1).max(LABEL_FILTER_CHARS_MAX).transform(parseLabels).pipe(
  z.array(z.object({ key: Key, value: Value.nullable() })),
);

/** The query parameter `label` of a list, parsed. */
export const LabelQuery = LabelFilterText.optional().describe(
  "Only objects with these labels: KEY=VALUE, or KEY for any value; separate several labels with commas",
);

function parseLabels(text: string): { key: string; value: string | null }[] {
  return text.split(",").map((pair) => {
    const at = pair.indexOf("=");
    return at < 0 ? { key: pair, value: null } : { key: pair.slice(0, at), value: pair.slice(at + 1) };
  });
}
