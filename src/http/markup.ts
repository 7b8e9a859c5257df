// Builds HTML from templates that escape their values. A value is text unless it is Markup, which only this file
// creates.
const kind = Symbol("markup");
export type Markup = { readonly [kind]: true; readonly text: string };

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Builds markup from a template. Escapes values for element text and quoted attributes; joins arrays; drops null,
 * undefined and false.
 */
export function markup(parts: TemplateStringsArray, ...values: readonly unknown[]): Markup {
  const text = parts.reduce((all, part, at) => all + written(values[at - 1]) + part);
  return { [kind]: true, text };
}

/** Marks constant text as markup. Never pass external text. */
export function trusted(text: string): Markup {
  return { [kind]: true, text };
}

function written(value: unknown): string {
  if (value === null || value === undefined || value === false) return "";
  if (Array.isArray(value)) return value.map(written).join("");
  if (typeof value === "object" && kind in value) return (value as Markup).text;
  return String(value).replace(/[&<>"']/g, (char) => ENTITIES[char]!);
}
