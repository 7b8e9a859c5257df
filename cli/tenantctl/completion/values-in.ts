// Reads flags of a partial command line. These flags select the server and the scope in which names are looked up.

const OPTIONS = {
  "--endpoint": "endpoint",
  "--api-key": "apiKey",
  "--profile": "profile",
  "--tenant": "tenant",
  "--project": "project",
  "--vpc": "vpc",
  "--route-table": "routeTable",
  "--instance": "instance",
} as const;
export type Values = { readonly [name in (typeof OPTIONS)[keyof typeof OPTIONS]]?: string };

/** Returns the values of the flags. `words` excludes the incomplete word at the cursor. */
export function valuesIn(words: readonly string[]): Values {
  const found: Record<string, string> = {};
  for (const [flag, name] of Object.entries(OPTIONS)) {
    const at = words.lastIndexOf(flag);
    const next = at < 0 ? undefined : words[at + 1];
    const value = next ?? words.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1);
    if (value !== undefined) found[name] = value;
  }
  return found;
}
