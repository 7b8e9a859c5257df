// What a half-written command line says already of where to look for names.

const OPTIONS = {
  "--endpoint": "endpoint",
  "--api-key": "apiKey",
  "--tenant": "tenant",
  "--project": "project",
  "--vpc": "vpc",
  "--route-table": "routeTable",
  "--instance": "instance",
} as const;
export type Values = { readonly [name in (typeof OPTIONS)[keyof typeof OPTIONS]]?: string };

/** `words` are finished: the one at the cursor is not among them. */
export function valuesIn(argv: readonly string[]): Values {
  const found: Record<string, string> = {};
  for (const [flag, name] of Object.entries(OPTIONS)) {
    const at = argv.lastIndexOf(flag);
    const beside = at < 0 ? undefined : argv[at + 1];
    const value = beside ?? argv.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1);
    if (value !== undefined) found[name] = value;
  }
  return found;
}
